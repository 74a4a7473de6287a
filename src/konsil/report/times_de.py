"""Times, in German."""

from __future__ import annotations

TIMES: dict[str, str] = {
    "Time for a screen.": "Zeit für eine Seite.",
    "all panels": "alle Panels",
    "Active seconds per screen": "Aktive Sekunden je Seite",
    "Open seconds per screen": "Offene Sekunden je Seite",
    "Active: until it was handed in first, the page visible and some input within the last minute. Open: all the time"
    " its page was open. Median [interquartile range]; practice, pilot and pages without an item are left out.": (
        "Aktiv: bis zum ersten Abgeben, die Seite sichtbar und eine Eingabe in der letzten Minute. Offen: die ganze"
        " Zeit, in der ihre Seite geöffnet war. Median [Quartile]; Übung, Pilot und Seiten ohne Item sind nicht dabei."
    ),
}
