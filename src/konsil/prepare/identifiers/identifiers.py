"""What in a question may name a person: patterns with their surroundings, English and German.

A pattern finds what may be meant; a person decides. A name is looked for by what stands around it
(a title, a relative, an age, a signature) and by a list of given names; a number by the word that
says whose number it is. Names of diseases, scores and studies are none, nor are doses, lab values,
weeks of pregnancy and a guideline's year.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from konsil.prepare.text.given_names import GIVEN_NAMES, ORDINARY_WORDS


class Recall(NamedTuple):
    """The proportion of invented questions with identifiers that are suspected.

    Only questions count that no rule was written for.
    """

    k: int
    """Suspected questions."""
    n: int
    """Questions with an identifier."""
    low: float
    """The lower limit of the 95% confidence interval of k / n (Wilson)."""
    high: float
    """The upper limit."""


RECALL = Recall(70, 120, 0.494, 0.668)
"""Measured by benchmarks/identifiers.py; docs/identifiers.md has the tables."""

_DAY, _MONTH, _YEAR = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])", r"(?:19|20)\d\d"
_NAMED_MONTH = (
    r"(?:jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz|apr(?:il)?|may|mai|june?|juni|july?|juli|aug(?:ust)?|"
    r"sep(?:t(?:ember)?)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?)\.?"
)
_CAPITAL = r"[A-ZÀ-ÖØ-ÞĀĆČĐĘĚĞİŁŃŘŚŠŞŻŽ]"
_WORD = rf"(?:{_CAPITAL}['’])?{_CAPITAL}[^\W\d_]+(?:-{_CAPITAL}[^\W\d_]+)?"
"""A word with a capital, such as Meyer, Öztürk-Brandl, O'Brien or SMITH."""
_TITLE_CASE = (
    rf"(?:{_CAPITAL}['’])?{_CAPITAL}(?:[a-zß-öø-ÿāćčđęěğıłńřśšşżž]|(?<=Mc)[A-Z])+"
    rf"(?:-{_CAPITAL}[^\W\d_]+)?"
)
_PARTICLE = (
    r"(?:(?:von|van|vom|zu|zur|zum|de|der|den|dem|del|della|di|da|du|la|le|el|al|bin|ibn)\s)"
)
_NAME = rf"(?:(?:{_CAPITAL}\.\s?){{0,2}}{_PARTICLE}{{0,3}}{_WORD})"
_PERSONAL = rf"(?:(?:{_CAPITAL}\.\s?){{0,2}}{_PARTICLE}{{0,3}}{_TITLE_CASE}(?:\s{_TITLE_CASE})?)"
_GIVEN = rf"(?:{'|'.join(sorted(GIVEN_NAMES, key=lambda name: (-len(name), name)))})"
_AGE = r"\d{1,3}\s?(?:[MFmfWw]\b|y/?o\b|yrs?\b|years?\b|J\.|Jahre|jähr|a\b|-year)"
_NUMBER = r"(?:no|nr|num|number|nummer|#|id|ids)"
_VALUE = (
    r"(?=[\w/.-]*\s?[\w/.-]*\d)[A-Z]{0,4}[-/. ]?(?:[A-Z]/)?\d[\dA-Za-z]*(?:[-/."
    r" ]?[\dA-Z]*\d[\dA-Z]*)*"
)

_TITLES = (
    r"(?:Mr|Mrs|Ms|Mx|Miss|Dr|Drs|Prof|Hr|Fr|Herrn?|Frau|Fräulein|Familie|Doctor|Doktor|Professor(?:in)?|Nurse|Sister|"
    r"Schwester|Pfleger|Kolleg(?:e|en|in)|OA|OÄ|AA|CA|Ober[aä]rzt(?:in)?|Chef[aä]rzt(?:in)?|Assistenz[aä]rzt(?:in)?|"
    r"Haus[aä]rzt(?:in)?|Pfarrer(?:in)?)"
)
_KIN_EN = (
    r"(?:mother|father|mom|mum|dad|parents?|son|daughter|brother|sister|twin|wife|husband|spouse|partner|fianc[ée]+|"
    r"aunt|uncle|niece|nephew|cousin|grand(?:mother|father|son|daughter|ma|pa)|caregiver|carer|guardian|neighbou?r)"
)
_KIN_DE = (
    r"(?:Mutter|Vater|Eltern|Sohn|Tochter|Bruder|Schwester|Zwilling|Ehe(?:mann|frau)|Mann|Frau|Gatt(?:e|in)|"
    r"Partner(?:in)?|Freund(?:in)?|Tante|Onkel|Nichte|Neffe|Cousine?|Oma|Opa|Gro(?:ß|ss)(?:mutter|vater)|Enkel(?:in)?|"
    r"Betreuer(?:in)?|Nachbar(?:in)?)"
)
_PATIENT_EN = r"(?:[Pp]atient|PATIENT|[Pp]ts?|[Cc]lient|[Rr]esident)"
_PATIENT_DE = r"(?:Patient(?:in|en)?|Pat\.?|Klient(?:in)?|Bewohner(?:in)?)"
_CALL = (
    r"(?i:tel|telephone|telefon(?:nummer)?|phone|fon|fax|mobile?|mobil(?:nummer)?|handy(?:nummer)?|cell|pager|beeper|"
    r"bleep|piepser|pieper|funk|ext|extension|durchwahl|rückruf|hotline)"
)
_RECORD = (
    r"(?i:mrn|ssn|kvnr|nhs|medicare|medicaid|med(?:ical)?\.? rec(?:ord)?|social security|"
    r"(?:health"
    r" plan|insurance|member|policy|patient|pat|hospital|case|claim|encounter|accession|"
    r"visit|account|acct|"
    r"chart|record|admission|passport|licen[cs]e|specimen|sample|pathology|serial|device|pacemaker|implant|referral)"
    r"(?=\W{1,2}(?:no|nr|num|number|#|id)\b|\s?#)|(?:encounter|accession)(?=\W{1,2}[A-Z]{0,3}-?\d[\d-]{4,}))"
)
_RECORD_DE = (
    r"(?i:(?:fall|patienten|pat\.?|aufnahme|akten|kranken(?:akten|kassen|versicherten|versicherungs)?|versicherten|"
    r"versicherungs?|mitglieds|rentenversicherungs|sozialversicherungs|rv|sv|steuer|ausweis|pass|"
    r"histo(?:logie)?|befund|"
    r"auftrags|labor|proben|serien|geräte|chargen|bsnr|lanr)[-. ]?(?:nummer|nr|id)\b\.?)"
)
_FACILITY = (
    r"(?:Hospital|Medical Cent(?:er|re)|Health Cent(?:er|re)|Clinic|Infirmary|Hospice|Nursing"
    r" Home|Care Home|"
    r"(?:Family|Medical|Group) Practice|Surgery|Klinikum|Krankenhaus|Spital)"
)
_ROLE = (
    r"(?:[Mm]ayor|[Ss]enator|[Gg]overnor|[Cc]ongress(?:wo)?man|[Bb]ishop|[Pp]riest|[Pp]astor|[Ii]mam|"
    r"[Rr]abbi|[Pp]rincipal|"
    r"[Hh]eadmaster|(?:fire|police) chief|chief of police|[Hh]ead"
    r" coach|[Cc]oach|[Gg]oalkeeper|[Ss]heriff|"
    r"[Aa]ct(?:or|ress)|"
    r"[Ss]inger|(?:TV|news|weather|radio)"
    r" (?:anchor|presenter|host)|[Jj]ournalist|CEO|Olympi(?:c|an)\w*|"
    r"(?:Ober)?[Bb]ürgermeister(?:in)?|Land(?:rat|rätin)|Minister(?:in)?|Abgeordneter?|Bischof|Bischöfin|"
    r"Pfarrer(?:in)?|"
    r"Schulleiter(?:in)?|Rektor(?:in)?|\w*[Tt]rainer(?:in)?|Profi\w+|Moderator(?:in)?|Schauspieler(?:in)?|"
    r"Sänger(?:in)?|"
    r"Journalist(?:in)?|Feuerwehrkommandant(?:in)?|Dorfarzt|Dorfärztin)"
)
_PERSON_EN = (
    r"(?i:patient|man|woman|male|female|boy|girl|child|lady|gentleman|farmer|teacher|worker|nurse|student|retiree|"
    r"carpenter|miner|driver|soldier|priest|pastor)"
)
_PERSON_DE = (
    r"(?:Patient(?:in)?|Mann|Frau|Kind|Junge|Mädchen|Landwirt(?:in)?|Bauer|Bäuerin|Lehrer(?:in)?|Student(?:in)?|"
    r"Rentner(?:in)?|Arbeiter(?:in)?|Förster(?:in)?|Winzer(?:in)?|Fahrer(?:in)?)"
)
_ADMITTED = (
    r"(?:[Aa]dmitted|[Dd]ischarged|[Ss]een|[Bb]orn|[Ss]urgery|[Oo]perated|[Tt]ransferred|[Ii]mplanted|[Dd]ied|DOB|"
    r"[Ll]ast seen|[Vv]isit|LMP|EDD)"
)

# In the order in which they are told: the first one that is found is the reason's evidence.
_PATTERNS = (
    r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{0,200}\w",
    r"(?i:\bhttps?://(?!\S*(?:doi\.org|pubmed|ncbi\.nlm|clinicaltrials\.gov|who\.int|nejm|awmf))\S+)",
    # Dates
    rf"(?<![.,\d])(?:{_DAY}([./-]){_MONTH}\1|{_MONTH}([./-]){_DAY}\2)(?:{_YEAR}|\d\d)(?![.,]?\d)",
    rf"\b{_YEAR}[-/.]{_MONTH}[-/.]{_DAY}\b",
    rf"(?i:\b{_DAY}(?:st|nd|rd|th|\.)?\s+(?:of\s+)?{_NAMED_MONTH},?\s+{_YEAR}\b|"
    rf"\b{_NAMED_MONTH}\s+{_DAY}(?:st|nd|rd|th)?,?\s+{_YEAR}\b)",
    r"\b(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|"
    r"Oct(?:ober)?|"
    rf"Nov(?:ember)?|Dec(?:ember)?)\.?\s{_DAY}(?:st|nd|rd|th)?\b(?![.,]?\d|\s?(?:mg|g|ml|mcg|µg|%|IU|IE))",
    rf"\b{_DAY}(?:st|nd|rd|th)?\s(?:of\s)?(?:January|February|March|April|June|July|August|September|"
    rf"October|November|"
    r"December)\b",
    rf"\b{_DAY}\.\s?(?:Jan(?:uar)?|Feb(?:ruar)?|März|Apr(?:il)?|Mai|Juni?|Juli?|Aug(?:ust)?|Sept?(?:ember)?|"
    r"Okt(?:ober)?|Nov(?:ember)?|Dez(?:ember)?)\b",
    rf"\b(?:am|vom|bis zum|seit dem|ab dem|bis|seit)\s{_DAY}\.\s?{_MONTH}\.(?!\d)",
    rf"\b{_ADMITTED}(?:\s(?:on|at))?[ :]+{_MONTH}/{_DAY}\b(?!/)",
    # Numbers of persons, records and devices
    r"\b\d{3}-\d{2}-\d{4}\b",
    r"\b\d{3}\s\d{3}\s\d{4}\b",
    r"\b[A-Z]\d{9}\b",
    r"\b\d{2}\s?\d{6}\s?[A-Z]\s?\d{3}\b",
    rf"\b{_RECORD}\W{{0,3}}(?:(?i:{_NUMBER}|is)\b\W{{0,3}}){{0,2}}{_VALUE}",
    rf"\b{_RECORD_DE}\W{{0,3}}(?:(?:lautet|ist)\s)?{_VALUE}",
    r"(?<![\w.,/-])(?<!PMID )(?<!PMID: )(?<!ISBN"
    r" )\d{7,}(?!\s?(?:IU|IE|I\.E\.|units?|copies|Einheiten|E\b|"
    r"CFU|KBE|/))\b",
    # Telephones
    (
        r"(?:\+\d{1,3}[ /-]?(?:\(0\))?\d{2,5}|\(\d{3,5}\)|\b0\d{2,4}[ /-]|\b\d{3}-)["
        r" /-]?\d{3,4}[ /-]?\d{3,6}\b"
    ),
    r"\b\d{3}[. -]\d{3}[. -]\d{4}\b|(?<![\w.,/-])0\d{2,4}[ /-]?\d{3,4}[ -]?\d{2,5}\b(?![.,]\d)",
    rf"\b{_CALL}\b\.?[^.?!\d]{{0,20}}[-+(]?\d[\d ()/-]{{1,}}\d\b",
    # Names beside a title, a relative, an age, a signature
    (
        rf"\b{_TITLES}\.?\s+(?:(?:Dr|Prof|Dipl|med|rer|nat|dent|habil|phil|PD|Priv)\b\.?[-"
        rf" ]?(?:Doz\.)?\s?)*{_NAME}"
    ),
    rf"\b{_PATIENT_EN}\b\.?(?:['’]s)?\s?(?:[Nn]ame[sd]?(?:\sis)?|called)\W{{1,3}}{_NAME}(?:,\s{_NAME})?",
    rf"\b{_PATIENT_EN}\b\.?[:,]?\s{_NAME}(?:\s{_WORD})?(?=[\s,.'’]|$)",
    rf"\b{_PATIENT_DE}\s(?:namens\s|Name:?\s)?{_NAME}(?:\s(?:{_TITLE_CASE}|{_CAPITAL}\.))?",
    rf"\b{_KIN_EN}\b,?\s\(?{_PERSONAL}",
    rf"\b{_KIN_DE},?\s\(?(?:{_GIVEN}\b(?:\s{_TITLE_CASE})?|{_TITLE_CASE}\s{_TITLE_CASE}\b)",
    rf"\b(?:[Ll]ittle|[Bb]aby|[Dd](?:er|ie) kleine|kleine[rn]?)\s{_TITLE_CASE}",
    rf"\b(?:[Mm]y name is|[Tt]he name is|[Nn]amed|[Nn]amens|[Mm]ein Name ist|[Ii]ch"
    rf" heiße|[Hh]ier (?:ist|"
    rf"spricht|schreibt)|"
    rf"(?:[Hh]i|[Hh]ello|[Hh]ey),? (?:this is|it['’]s|I['’]?a?m))\s+{_PERSONAL}",
    rf"\b(?:[Ss]igned|[Rr]egards|[Ss]incerely|[Bb]est"
    rf" wishes|[Tt]hanks|[Cc]heers|Grü(?:ß|ss)en?|Gru(?:ß|"
    rf"ss)|gez\.)[,:]?\s+"
    rf"{_PERSONAL}",
    rf"\b(?:by|from|per|to|laut|von|durch|an)\s(?:{_CAPITAL}\.\s?)+{_TITLE_CASE}",
    rf"\b{_TITLE_CASE}\s{_TITLE_CASE},?\s(?:RN|NP|PA-C|MD|FNP|PharmD|DO|LPN|CNM|M\.D\.|R\.N\.)(?!\w)",
    rf"(?m:^)\W{{0,6}}{_NAME},\s?{_NAME}\W{{0,4}}(?=DOB|geb|born|{_AGE}|{_DAY}\.)",
    rf"\b{_CAPITAL}{{3,}},\s?{_CAPITAL}[^\W\d_]{{2,}}\W{{0,3}}(?=DOB|geb|born|{_AGE})",
    rf"(?m:^)\W{{0,6}}(?:{_TITLE_CASE}\s{_TITLE_CASE})(?=,?\s(?:is|was|ist|war)\s(?:an?|eine?)\s\d|,?\s\(?{_AGE})",
    rf"\b{_GIVEN}\s{_PARTICLE}{{0,2}}{_TITLE_CASE}\b",
    rf"(?<![-\w]){_GIVEN}(?:['’]s)?(?![-\w])",
    rf"(?<![\w.])(?:{_CAPITAL}\.\s?){{2}}(?=,?\s?\(?\d{{1,3}}(?:,|\s?{_AGE[7:]}))",
    # Addresses
    rf"\b{_WORD}(?:straße|strasse|str\.|weg|allee|gasse|platz|ring|damm|ufer|chaussee|pfad|steig)\s\d+\s?[a-z]?\b",
    rf"\b{_WORD}\s(?:Straße|Strasse|Str\.|Allee|Weg|Platz|Gasse|Ring|Damm|Ufer|Chaussee)\s\d+\s?[a-z]?\b",
    rf"\b(?:Am|An der|An den|Im|Auf dem|Auf der|In der|Zum|Zur|Beim|Hinter der|"
    rf"Unter den)\s{_TITLE_CASE}\s\d+[a-z]?,",
    rf"\b\d+[A-Za-z]?\s(?:[NSEW]\.?\s)?(?:{_WORD}\s){{1,2}}(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|"
    rf"Dr|Close|Court|Ct|"
    r"Place|Pl|Way|Boulevard|Blvd|Terrace|Crescent|Square|Highway|Hwy|Parkway|Gardens|Grove|Mews|Row|Hill)\b",
    r"\b(?:P\.?\s?O\.?\s?[Bb]ox|Postfach)\s\d+",
    rf",\s\d{{5}}\s{_WORD}|\b[A-Z]{{2}}\s\d{{5}}(?:-\d{{4}})?\b",
    r"(?i:\b(?:zip(?: code)?|plz|postleitzahl|"
    r"post(?:al )?code)\b)\W{0,3}[A-Z]{0,2}\d[\dA-Z]{1,4}(?:\s?\d[A-Z]{2})?",
    # Places
    rf"\b(?:(?:St|Sankt|Saint)\.?\s)?{_TITLE_CASE}(?:['’]s)?(?:\s{_TITLE_CASE}){{0,2}}\s{_FACILITY}\b",
    rf"\b{_WORD}(?:hospital|klinik|klinikum|krankenhaus|spital|stift)\s{_TITLE_CASE}",
    rf"\b(?:\w*[Kk]linik(?:um)?|\w*[Pp]raxis|\w*[Kk]rankenhaus|MVZ|\w+heim|\w+stift)\s(?:am|an"
    rf" der|im|"
    rf"in der|St\.|Sankt|Dr\.)"
    rf"\s(?!Wochenende|Abend|Tag|Morgen|Montag|Freitag|Sommer|Winter|Dienst|Verlauf|Rahmen|Alltag|"
    rf"Regel){_TITLE_CASE}",
    r"\b(?:[Bb]ed|[Rr]oom|[Rr]m|[Ww]ard|[Bb]ay|Bett|Zimmer|Zi\.|Station|"
    r"Stat\.)\s?(?:[Nn][or]\.?\s)?(?!\d+\s?(?:°|deg|hours|h\b"
    r"|cm|kg|Betten))\d+[A-Za-z]?\b",
    rf"\b(?:lives? (?:in|at|near)|living (?:in|near)|resident of|moved (?:here )?from|comes"
    rf" from|raised in|"
    rf"born in|hometown|"
    rf"{_PERSON_EN} from)\s(?:the\s)?{_TITLE_CASE}(?:\s{_TITLE_CASE})?",
    rf"\b(?:wohnt|lebt|wohnhaft|wohnend|stammt|kommt|zugezogen|Zugezogen|gebürtig|umgezogen|hergezogen|"
    rf"{_PERSON_DE})\s"
    rf"(?:in|aus|bei|nach)\s(?:der\s|dem\s)?{_TITLE_CASE}(?:\s{_TITLE_CASE})?",
    rf"\b(?:[Tt]ransferred|[Rr]eferred|[Dd]ischarged|[Vv]erlegt|[Üü]berwiesen|[Ee]ntlassen)\s(?:from|aus|by|von)\s"
    rf"(?:the\s|dem\s|der\s)?{_TITLE_CASE}\s{_TITLE_CASE}",
    # Ages that few people reach
    (
        r"\b(?:9\d|1[01]\d)[ -]?(?i:years?[ -]olds?|y/?o\b|y\.o\.|yrs?\b|jährige[rnms]?\b|jahre"
        r" alt\b|j\.|jahre\b)"
    ),
    (
        r"\b(?i:aged?|alter|is|ist)["
        r" :]\s?(?:9\d|1[01]\d)\b(?=\s?(?:[,.;)]|$|years|Jahre|and|und))(?!\.\d)"
    ),
    r"(?<![.,\d])\b(?:9\d|1[01]\d)\s?(?:[MFWmfw]|a)\b(?=\s|,|$)",
    # What only few people do
    rf"\b{_ROLE}\b[^.?!]{{0,25}}\b(?:of|in|at|for|from|on|bei|beim|von|vom|der|des|aus|"
    rf"im)\b[^.?!]{{0,25}}{_TITLE_CASE}",
    rf"\b(?:[Tt]he|[Dd]e[rm]|[Dd]ie|[Dd]as)\s(?:only|einzigen?)\s[^.?!,]{{3,40}}\s(?:in|of|at|von|in|aus|"
    rf"auf)\s{_TITLE_CASE}",
)

_NOT_A_NAME = re.compile(
    r"(?:[ -][A-Z][^\W\d_]+){0,2}['’]?s?\W{0,3}(?i:syndrom|disease|sign\b|"
    r"nodule|sequence|staging|stage|criteri|classification|score|scale|index|test|reflex|"
    r"definition|formula|equation|study|trial|phenomenon|effect|procedure|operation|anatomy|krankheit|zeichen|kriteri|"
    r"skala|knoten|phänomen|staph|hopkins|wort\b|fire\b|erkrankung|arteri|enzephal|encephal|thyroid|lymphom|tumou?r|"
    r"contractur|kontraktur|hernia|hernie|palsy|parese|ulcer|fracture|fraktur|et"
    r" al|bypass|catheter|katheter|guideline|"
    r"leitlinie|questionnaire|safety|blood management|global"
    r" assessment|health|reported|activation|experience|"
    r"consortium|foundation|institute|stiftung|institut)"
)
"""What stands within or right behind a name that is one of a sign, a score, a study."""
_WORDS_OF_DISEASE = re.compile(
    r"(?:itis|itiden|ose|osen|osis|oses|iasis|om|ome|oma|omas|ämie|aemia|emia|ie|ien|ung|ungen|heit|keit|keiten|schaft|"
    r"ion|ionen|ismus|ität|tät|enz|anz|iker|ikerin|uria|urie|pathy|pathie|penia|penie|krebs|infarkt|schmerz|schmerzen|"
    r"ing|ity|ness|ment|mab|nib|pril|artan|olol|statin|cillin|mycin|zol|azole|xaban|raucher|raucherin|trinker)$",
    re.IGNORECASE,
)
_GENERAL_AGE = re.compile(
    r"(?:\b(?:over|than|above|über|ab|bis|under|unter|from|to|than|als|and|und|least)|[≥>≤<=–-])\s*$",
    re.I,
)
_AN_AGE = re.compile(r"(?:9\d|1[01]\d)")
_PERSON = re.compile(rf"^{_TITLES}\b|\b{_CAPITAL}(?:['’]|\.\s){_CAPITAL}")
"""A title, an initial or an O': what follows is no disease, whatever it ends in."""
_LETTERS = re.compile(rf"{_CAPITAL}['’]?[^\W\d_]+")


def identifiers(text: str) -> Iterator[tuple[int, int]]:
    """Spans (first character, one past the last) that may name a person, in pattern order.

    >>> text = "Pt J. O'Brien, Graves disease, room 4"
    >>> [text[a:b] for a, b in identifiers(text)]
    ["Pt J. O'Brien", 'room 4']
    """
    for pattern in _compiled():
        for match in pattern.finditer(text):
            if not _is_general(text, match.start(), match.end()):
                yield match.span()


# Compiling takes a fifth of the start of a command, and few commands look for identifiers.
@cache
def _compiled() -> tuple[re.Pattern[str], ...]:
    return tuple(map(re.compile, _PATTERNS))


def _is_general(text: str, start: int, end: int) -> bool:
    """Whether what a pattern found is a disease, a score, a country or an age group."""
    passage = text[start:end]
    if any(c.isdigit() for c in passage) or "@" in passage:
        return (
            _AN_AGE.match(passage) is not None
            and _GENERAL_AGE.search(text[max(0, start - 12) : start]) is not None
        )
    words = [word.removesuffix("'s").removesuffix("’s") for word in _LETTERS.findall(passage)]
    last = words[-1] if words else ""
    if _NOT_A_NAME.match(text, end) or _NOT_A_NAME.match(last):
        return True
    if len(words) == 1 and passage.startswith(last) and last in GIVEN_NAMES:
        return bool(
            re.search(r"(?:St|Sankt|Saint|Morbus|M)\.?\s$", text[max(0, start - 8) : start])
        )
    if any(word in GIVEN_NAMES for word in words):
        return False
    is_disease = _WORDS_OF_DISEASE.search(last) is not None and not _PERSON.search(passage)
    return last in ORDINARY_WORDS or is_disease or _is_abbreviation(last, passage)


def _is_abbreviation(word: str, passage: str) -> bool:
    """Whether the last word of a match is an abbreviation, such as INR, not a name in capitals."""
    return word.isupper() and len(word) < 5 and "," not in passage
