"""Whether a text names a diagnosis: measured on a list made by hand, German and English, and what
is never found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from konsil.errors import edit_distance
from konsil.prepare.cases.leftovers import leftovers
from konsil.prepare.cases.masking import Mark, MarkKind
from konsil.prepare.cases.naming import Name, mentions, names_of
from konsil.prepare.text.spelling import folded_word, likeness
from konsil.records import Item

NAMED = [
    ("sarcoidosis", "Sarcoidosis was suspected."),
    ("sarcoidosis", "two patients with pulmonary sarcoidosis"),
    ("sarcoidosis", "Verdacht auf Sarkoidose"),
    ("Sarkoidose", "die Sarkoidosen der Lunge"),
    ("sarcoidosis", "a diagnosis of sarciodosis was made"),
    ("sarcoidosis", "neurosarcoidosis was excluded"),
    ("Crohn's disease", "he had Crohn for years"),
    ("Crohn's disease", "Z.n. Morbus Crohn"),
    ("Morbus Crohn", "known Crohns disease"),
    ("Pankreaskarzinom", "bei Verdacht auf ein Karzinom des Pankreas"),
    ("Pankreaskarzinom", "die Pankreaskarzinompatientin"),
    ("Pankreaskarzinom", "Pankreas-Karzinom"),
    ("Pankreaskarzinom", "des Pankreaskarzinoms"),
    ("pancreatic carcinoma", "carcinoma of the pancreatic head"),
    ("multiple sclerosis", "Multiple Sclerosis (MS)"),
    ("multiple sclerosis (MS)", "MS was considered"),
    ("Multiple Sklerose", "die multiple Sklerose"),
    ("systemic lupus erythematosus", "SLE was thought of"),
    ("systemic lupus erythematosus", "systemischer Lupus erythematodes"),
    ("granulomatosis with polyangiitis (GPA)", "c-ANCA in keeping with GPA"),
    ("granulomatosis with polyangiitis", "polyangiitis with granulomatosis"),
    ("non-Hodgkin lymphoma", "a nonhodgkin lymphoma"),
    ("non-Hodgkin lymphoma", "Non-Hodgkin-Lymphom"),
    ("esophageal carcinoma", "oesophageal carcinomas"),
    ("anaemia", "severe anemia"),
    ("Anämie", "bei Anaemie"),
    ("pheochromocytoma", "phaeochromocytoma"),
    ("Phäochromozytom", "bilateral pheochromocytomas"),
    ("type C pyloric atresia", "pyloric atresia of the newborn"),
    ("haemophagocytic lymphohistiocytosis", "hemophagocytic lymphohistiocytosis"),
    ("haemophagocytic lymphohistiocytosis", "hemophagocytic lymphohistocytosis"),
    ("amyotrophic lateral sclerosis", "ALS"),
    ("Myasthenia gravis", "eine generalisierte Myasthenia gravis"),
    ("Myasthenia gravis", "myastenia gravis"),
    ("Tuberkulose", "tuberculosis of the spine"),
    ("α1-antitrypsin deficiency", "alpha1-antitrypsin deficiency"),
    ("Lungenembolie", "eine Embolie der Lungen"),
    ("pulmonary embolism", "pulmonary emboli and embolisms, pulmonary"),
    ("Takotsubo cardiomyopathy", "Tako-tsubo cardiomyopathy"),
    ("Whipple's disease", "Whipple disease"),
    ("Erdheim-Chester disease", "Erdheim–Chester disease"),
    ("Guillain-Barré syndrome", "Guillain Barre Syndrom"),
    ("Arteriitis temporalis", "Arteritis temporalis"),
    ("Wilson's disease", "Wilsons Krankheit"),
    ("Diabetes insipidus", "zentraler Diabetes insipidus"),
    ("neurofibromatosis type 1", "neuro-fibromatosis"),
    ("Hypophosphatasie", "hypophosphatasia"),
    ("porphyria", "acute intermittent porphyrias"),
    ("thrombotic thrombocytopenic purpura", "TTP"),
    ("thrombotic thrombocytopenic purpura", "purpura, thrombotic thrombocytopenic"),
]
NOT_NAMED = [
    ("hypertension", "severe hypotension"),
    ("hyponatremia", "hypernatremia"),
    ("optic neuritis", "lupus nephritis"),
    ("neuritis", "nephritis was excluded"),
    ("giant cell arteritis", "rheumatoid arthritis"),
    ("arteritis", "septic arthritis"),
    ("multiple sclerosis", "multiple lesions and sclerosis of the femoral head"),
    ("multiple sclerosis", "multiple fractures"),
    ("type C pyloric atresia", "duodenal atresia"),
    ("sarcoidosis", "granulomas without necrosis"),
    ("Crohn's disease", "a chronic disease of the bowel"),
    ("Wilson's disease", "liver disease"),
    ("carcinoma", "a carcinoid of the lung"),
    ("myeloma", "melanoma of the skin"),
    ("lymphoma", "a lipoma of the neck"),
    ("macroadenoma", "a microadenoma of 4 mm"),
    ("multiple sclerosis (MS)", "a run of 300 ms"),
    ("amyotrophic lateral sclerosis", "als er aufwachte"),
    ("gout", "he got up without help"),
    ("Lungenembolie", "Entzündung der Lunge"),
    ("Lungenembolie", "Pneumonie beider Lungen"),
    ("Pankreaskarzinom", "Karzinom der Niere, Pankreas unauffällig im Ultraschall von heute"),
    ("Diabetes insipidus", "Diabetes mellitus Typ 2"),
    ("Guillain-Barré syndrome", "a syndrome of weakness"),
    ("Addison's disease", "in addition she was tired"),
    ("sepsis", "aseptic technique"),
    ("Tuberkulose", "tuberous sclerosis"),
    ("porphyria", "euphoria"),
    ("systemic lupus erythematosus", "systemic symptoms and erythema"),
    ("pulmonary embolism", "pulmonary oedema"),
    ("Whipple's disease", "a whipping motion"),
    ("colitis", "coli in the urine"),
    ("leukemia", "leukocytes of 14"),
    ("anemia", "anamnesis as above"),
    ("acute pancreatitis", "the pancreas was normal"),
]

LATER_NAMED = [
    ("Goodpasture syndrome", "anti-GBM disease, formerly Goodpasture's"),
    ("Hashimoto's thyroiditis", "Hashimoto-Thyreoiditis"),
    ("Hashimoto-Thyreoiditis", "an autoimmune Hashimoto thyroiditis"),
    ("eosinophilic esophagitis", "eosinophile Ösophagitis"),
    ("lymphangioleiomyomatosis (LAM)", "cysts typical of LAM"),
    ("cardiac tamponade", "a tamponade, cardiac in origin"),
    ("Kawasaki disease", "Kawasaki-Syndrom"),
    ("Herzinfarkt", "des Herzinfarktes"),
    ("myocardial infarction", "two myocardial infarctions"),
    ("Nierenzellkarzinom", "Nierenzellkarzinome beidseits"),
    ("renal cell carcinoma", "renal-cell carcinoma"),
    ("hemochromatosis", "Hämochromatose"),
    ("Lyme disease", "Lyme borreliosis"),
    ("syphilis", "neurosyphilis"),
    ("catatonia", "katatonie"),
    ("meningioma", "meningeoma of the falx"),
    ("thrombotic microangiopathy", "a thrombotic micro-angiopathy"),
    ("polyarteritis nodosa", "Polyarteriitis nodosa"),
    ("acromegaly", "Akromegalie"),
    ("Ehlers-Danlos syndrome", "Ehlers Danlos"),
    ("systemic mastocytosis", "mastocytosis, systemic"),
    ("cystic fibrosis", "cystic fybrosis"),
    ("Mukoviszidose", "die Mukoviscidose"),
    ("Budd-Chiari syndrome", "the Budd–Chiari-syndrome"),
    ("rheumatic fever", "acute rheumatic fever"),
    ("pernicious anemia", "perniziöse Anämie"),
    ("subarachnoid hemorrhage", "subarachnoid haemorrhage"),
    ("Subarachnoidalblutung", "eine subarachnoidale Blutung"),
    ("toxic epidermal necrolysis", "TEN"),
    ("Cushing's disease", "central Cushing disease"),
    ("tuberous sclerosis", "tuberöse Sklerose"),
    ("hypereosinophilic syndrome", "a hypereosinophilic state"),
    ("leprosy", "lepromatous leprosy"),
    ("botulism", "Botulismus"),
    ("scurvy", "skurvy"),
    ("Lungenentzündung", "Entzündung der Lunge"),
    ("multiples Myelom", "des multiplen Myeloms"),
    ("Morbus Waldenström", "Waldenstrom's macroglobulinaemia"),
    ("antiphospholipid syndrome", "anti-phospholipid syndrome"),
    ("hyperparathyroidism", "primary hyperparathyroidism"),
]
"""Made after the rules; 35 of these 40 were found then, and 37 of the 40 below left alone."""
LATER_NOT_NAMED = [
    ("hyperthyroidism", "hypothyroidism was excluded"),
    ("gastritis", "gastric ulcer"),
    ("rheumatic fever", "a fever of 39, rheumatoid factor negative"),
    ("cystic fibrosis", "pulmonary fibrosis with cysts"),
    ("lymphangioleiomyomatosis (LAM)", "a lamp"),
    ("myocardial infarction", "cerebral infarction"),
    ("renal cell carcinoma", "squamous cell carcinoma of the lung"),
    ("tuberous sclerosis", "systemic sclerosis"),
    ("pericarditis", "myocarditis"),
    ("pernicious anemia", "iron deficiency anemia"),
    ("Lyme disease", "a lime-green rash"),
    ("toxic epidermal necrolysis", "ten days later"),
    ("syphilis", "psoriasis"),
    ("Kawasaki disease", "he rode a motorbike"),
    ("hyperkalemia", "hypokalemia"),
    ("cholangitis", "cholecystitis"),
    ("meningioma", "meningitis"),
    ("polymyositis", "polymyalgia rheumatica"),
    ("osteomalacia", "osteomyelitis"),
    ("hemophilia", "hemoptysis"),
    ("cardiac tamponade", "cardiac arrest"),
    ("systemic mastocytosis", "a systemic infection"),
    ("Herzinfarkt", "Herzinsuffizienz"),
    ("Nierenzellkarzinom", "Nierenzellen im Sediment"),
    ("Subarachnoidalblutung", "gastrointestinale Blutung"),
    ("ALS", "als Kind"),
    ("Morbus Waldenström", "im Wald gestürzt"),
    ("acromegaly", "splenomegaly"),
    ("scabies", "rabies"),
    ("measles", "weasels"),
    ("uveitis", "vulvitis"),
    ("endometriosis", "endometritis"),
    ("leprosy", "leptospirosis"),
    ("silicosis", "syllogism"),
    ("hyperparathyroidism", "hypoparathyroidism"),
    ("mumps", "lumps in the neck"),
    ("rosacea", "roseola"),
    ("tetanus", "tetany"),
    ("anthrax", "anthracosis"),
    ("typhus", "typhoid fever"),
]
MISSED = [("Subarachnoidalblutung", "eine subarachnoidale Blutung")]
TOO_MUCH = [("Lyme disease", "a lime-green rash"), ("tetanus", "tetany")]


def names(diagnosis: str, text: str) -> bool:
    return any(m.way != "part" for m in mentions(text, names_of([diagnosis])))


def test_what_is_named_is_found_and_what_is_not_is_left_alone() -> None:
    """What is missed or found too much stands here by name, so that a change of the rules shows
    what it does."""
    missed = [pair for pair in (*NAMED, *LATER_NAMED) if not names(*pair)]
    too_much = [pair for pair in (*NOT_NAMED, *LATER_NOT_NAMED) if names(*pair)]
    assert missed == MISSED
    assert too_much == TOO_MUCH


def test_ways_of_naming() -> None:
    text = "Sarcoidosis? Sarkoidose! sarciodosis; cutaneous sarcoid; LS in short. Sarcoidosis"
    found = mentions(text, [*names_of(["sarcoidosis"]), Name("LS", short=True, way="abbreviation")])
    assert [(text[m.start : m.end], m.way) for m in found] == [
        ("Sarcoidosis", "named"),
        ("Sarkoidose", "form"),
        ("sarciodosis", "misspelt"),
        ("sarcoid", "part"),
        ("LS", "abbreviation"),
        ("Sarcoidosis", "named"),
    ]
    assert mentions(text, names_of([])) == ()
    assert mentions("", names_of(["gout"])) == ()
    assert names_of(["", " ( ) ", "?"]) == ()


@pytest.mark.slow
@given(st.text(max_size=30), st.text(max_size=30))
def test_likeness_and_distance_have_no_order(one: str, other: str) -> None:
    a, b = folded_word(one), folded_word(other)
    assert likeness(a, b) == likeness(b, a)
    assert edit_distance(a, b, 3) == edit_distance(b, a, 3)
    assert likeness(a, a) == "same"
    assert (edit_distance(a, b, 3) == 0) == (a == b)


@given(st.text(max_size=200), st.lists(st.text(max_size=30), max_size=3))
def test_mentions_lie_in_the_text_and_apart(text: str, given_names: list[str]) -> None:
    end = 0
    for mention in mentions(text, names_of(given_names)):
        assert end <= mention.start < mention.end <= len(text)
        end = mention.end


TOLD = (
    "Granulomatosis with polyangiitis (GPA) was proven: c-ANCA 1:320. GPA is rare. Cavities on CT;"
    " the cavities grew."
)
CASE = Item("c", TOLD, "granulomatosis with polyangiitis", ("Wegener's disease",))


def at(what: str, kind: MarkKind, rank: int = 0, replacement: str = "", text: str = TOLD) -> Mark:
    return Mark(text.index(what), text.index(what) + len(what), kind, rank, replacement)


def test_what_is_left_over_is_told_once_with_its_place() -> None:
    marks = [
        at("Granulomatosis with polyangiitis", "diagnosis"),
        at("Cavities on CT", "cue", 1, "Changes of the chest"),
        at("c-ANCA 1:320", "cue", 2, "Antibodies as in Wegener's"),
        at("is rare", "temporal"),
    ]
    found = leftovers(CASE, marks, "[…]")
    assert [(one.kind, one.level, one.text, one.way, one.start, one.stops) for one in found] == [
        ("diagnosis", "0", "GPA", "abbreviation", 34, True),
        ("diagnosis", "0", "GPA", "abbreviation", 65, True),
        ("cue", "1", "cavities", "part", 98, False),
        ("diagnosis", "2", "Wegener", "named", None, True),
    ]
    assert (
        found[0].description()
        == "level 0 still has 'GPA' at 34-37, the diagnosis 'GPA' (abbreviation)"
    )


def test_a_narrative_that_names_nothing_is_its_own_level_0() -> None:
    item = Item("c", "Fever and rash.", "measles")
    found = leftovers(
        item, [at("Fever", "cue", 1, text=item.text), at("rash", "cue", 2, text=item.text)], ""
    )
    assert [(one.kind, one.level, one.stops) for one in found] == [
        ("version", "0", False),
        ("version", "3", True),
    ]


@pytest.mark.parametrize(
    ("text", "start"), [("Later it was measles", 13), ("measles", 0), ("Measles, as was seen", 0)]
)
def test_a_diagnosis_at_an_end_of_its_passage_has_its_place(text: str, start: int) -> None:
    """A rash that is marked in front, so that passages begin and end where the diagnosis does."""
    item = Item("c", f"A rash. {text}", "measles")
    [leftover] = [
        candidate
        for candidate in leftovers(item, [at("A rash. ", "cue", 1, text=item.text)], "")
        if candidate.kind == "diagnosis" and candidate.level == "0"
    ]
    assert (leftover.start, leftover.end) == (8 + start, 15 + start)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("Phäochromozytom", "ein Phäo der linken Seite", "Phäo"),
        ("Phäochromozytom", "Phäo-Verdacht", "Phäo"),
        ("pheochromocytoma", "pheos are rare", "pheos"),
        ("Sarkoidose", "bekannte Sarko", "Sarko"),
        ("thrombotic thrombocytopenic purpura", "an iTTP was likely", "iTTP"),
        ("TTP", "cTTP", "cTTP"),
    ],
)
def test_a_clipped_name_and_a_kind_of_an_abbreviation_are_parts(
    name: str, text: str, words: str
) -> None:
    [found] = mentions(text, names_of([name]))
    assert (found.way, text[found.start : found.end]) == ("part", words)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("thrombocytopenia", "Thrombo 140"),
        ("neurofibromatosis", "Neuro unauffällig"),
        ("Prostatakarzinom", "eine Tablette pro Tag"),
        ("TTP", "ATTP, HTTP"),
        ("Sarkoidose", "sako"),
    ],
)
def test_everyday_beginnings_of_names_and_longer_abbreviations_are_not(
    name: str, text: str
) -> None:
    assert mentions(text, names_of([name])) == ()
