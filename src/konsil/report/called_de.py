"""How models were asked, and pairs in both orders, in German."""

from __future__ import annotations

CALLED: dict[str, str] = {
    "Before the study models were asked for {steps}; what they said was for people to decide on.": (
        "Vor der Studie wurden Modelle gebeten um {steps}; über das, was sie sagten, entschieden Menschen."
    ),
    "Answers were imported of {systems}.": "Antworten wurden eingelesen von {systems}.",
    "with web search": "mit Websuche",
    "on {day}": "am {day}",
    "from {first} to {last}": "vom {first} bis {last}",
    "questions in better words": "besser formulierte Fragen",
    "reasons to leave questions out": "Gründe, Fragen wegzulassen",
    "key phrases of the questions": "Schlagwörter der Fragen",
    "names of themes": "Namen von Themen",
    "the questions' themes": "die Themen der Fragen",
    "Answers were asked of {models}.": "Antworten wurden erbeten von {models}.",
    "No model stands behind {names}: they were played by konsil's endpoint for trials, and nothing follows from what"
    " they say.": (
        "Hinter {names} steht kein Modell: Sie wurden von konsils Endpunkt für Versuche gespielt, und aus dem, was sie"
        " sagen, folgt nichts."
    ),
    "Judgements were asked of {models}.": "Urteile wurden erbeten von {models}.",
    "{who} ({model}; {settings})": "{who} ({model}; {settings})",
    "{who} ({model}, answering as {echoed}; {settings})": "{who} ({model}, meldet sich als {echoed}; {settings})",
    "{parameter} {value}": "{parameter} {value}",
    "sampling by the endpoint's default": "Stichprobenziehung nach Vorgabe des Endpunkts",
    "{who} gave no log-probabilities in {n:,} of {all:,} calls; their labels have no confidence.": (
        "{who} gab bei {n:,} von {all:,} Aufrufen keine Log-Wahrscheinlichkeiten an; diese Labels sind ohne Sicherheit."
    ),
    "{who} does not take {parameters}: all its {n:,} {n|call was|calls were} made without.": (
        "{who} nimmt {parameters} nicht an: {n|Der|Alle} {n:,} {n|Aufruf geschah|Aufrufe geschahen} ohne."
    ),
    "{who} did not always take {parameters}: {n:,} of {all:,} calls were made without.": (
        "{who} nahm {parameters} nicht immer an: {n:,} von {all:,} Aufrufen geschahen ohne."
    ),
    "{judges} voted {votes} times on each task; a label is what more than half of the votes say, and without such a"
    " majority it is missing.": (
        "{judges} gaben zu jeder Aufgabe {votes} Stimmen ab; Label ist, was mehr als die Hälfte der Stimmen sagt, und"
        " ohne solche Mehrheit fehlt es."
    ),
    "{who} {n:,} of {all:,} on {criterion} ({share:.1%})": "{who} {n:,} von {all:,} bei {criterion} ({share:.1%})",
    "Pairs were shown in both orders; inconsistent between them were {judges}, and what is inconsistent is a tie.": (
        "Paare wurden in beiden Reihenfolgen gezeigt; widersprüchlich waren {judges}, und was sich widerspricht, gilt"
        " als unentschieden."
    ),
    "Pairs were shown in both orders; inconsistent between them were {judges}, and what is inconsistent is missing.": (
        "Paare wurden in beiden Reihenfolgen gezeigt; widersprüchlich waren {judges}, und was sich widerspricht, fehlt."
    ),
    "Pairs that judges saw in both orders.": "Paare, die Modelle in beiden Reihenfolgen sahen.",
    "Compared are the pairs with a label in each order.": "Verglichen sind Paare mit einem Label in jeder Reihenfolge.",
    "Judge": "Modell",
    "Criterion compared": "Verglichenes Kriterium",
    "Pairs compared": "Verglichene Paare",
    "Inconsistent": "Widersprüchlich",
    "Share inconsistent": "Anteil widersprüchlich",
}
