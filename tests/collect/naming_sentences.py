"""Sentences that name a diagnosis, rule it out or mean something else, with what a careful reader
says of each.

`considered`: whether the sentence names the diagnosis at all, ruled out or not (what is asked of
the reasoning).
`answered`: whether it names it as something the patient may have (what is asked of the final
response). HELD_OUT was written before the rules and never used to make them; `test_naming_rules.py`
states what it gives."""

from __future__ import annotations

from konsil.records import Item

WILSON = Item("w", "?", "Wilson disease", ("hepatolenticular degeneration",))
GPA = Item("g", "?", "granulomatosis with polyangiitis", ("GPA", "Wegener's granulomatosis"))
ADDISON = Item("a", "?", "Morbus Addison", ("primäre Nebennierenrindeninsuffizienz",))
LUPUS = Item("l", "?", "systemic lupus erythematosus", ("SLE",))
SARCOID = Item("s", "?", "Sarkoidose", ("Morbus Boeck",))
PHEO = Item("p", "?", "Phäochromozytom")

NAMED, RULED_OUT, OTHER = (True, True), (True, False), (False, False)

FIRST = (
    (WILSON, "Wilson disease is possible given low ceruloplasmin.", NAMED),
    (WILSON, "Wilson disease was ruled out by a normal ceruloplasmin.", RULED_OUT),
    (WILSON, "There is no evidence of Wilson disease.", RULED_OUT),
    (WILSON, "Wilson disease is unlikely; autoimmune hepatitis fits better.", NAMED),
    (WILSON, "Her brother has Wilson's disease.", NAMED),
    (WILSON, "Dr. Wilson examined the patient.", OTHER),
    (WILSON, "Consider Wilsons disease and hemochromatosis.", NAMED),
    (WILSON, "hepatolenticular degeneraton is considered", NAMED),
    (WILSON, "Copper accumulation disorder", OTHER),
    (WILSON, "We can exclude Wilson disease, since slit lamp is normal.", RULED_OUT),
    (GPA, "Differential: GPA, EGPA, MPA.", NAMED),
    (GPA, "Likely eosinophilic granulomatosis with polyangiitis (EGPA).", OTHER),
    (GPA, "EGPA", OTHER),
    (GPA, "The student's GPA was 3.9.", OTHER),
    (GPA, "Wegener granulomatosis", NAMED),
    (GPA, "granulomatous polyangiitis", NAMED),
    (GPA, "microscopic polyangiitis", OTHER),
    (GPA, "Granulomatosis, with or without polyangiitis", NAMED),
    (ADDISON, "Ein M. Addison ist denkbar.", NAMED),
    (ADDISON, "Addison-Krise", NAMED),
    (ADDISON, "Kein Anhalt für Morbus Addison.", RULED_OUT),
    (ADDISON, "sekundäre Nebennierenrindeninsuffizienz", OTHER),
    (ADDISON, "primäre NNR-Insuffizienz", NAMED),
    (ADDISON, "Morbus Crohn", OTHER),
    (ADDISON, "Addisonsche Krankheit", NAMED),
    (ADDISON, "Ausgeschlossen wurden Morbus Addison und Hypothyreose.", RULED_OUT),
)
"""The sentences that the rules were made with."""

HELD_OUT = (
    (WILSON, "The most likely diagnosis is Wilson disease.", NAMED),
    (
        WILSON,
        "Hemochromatosis was excluded, so Wilson disease remains the leading diagnosis.",
        NAMED,
    ),
    (WILSON, "Normal 24-hour urinary copper rules out Wilson disease.", RULED_OUT),
    (WILSON, "Wilson disease cannot be ruled out.", NAMED),
    (WILSON, "Wilson disease and hemochromatosis have been excluded.", RULED_OUT),
    (WILSON, "This is not Wilson disease but autoimmune hepatitis.", RULED_OUT),
    (WILSON, "Wilson et al. described the slit-lamp findings in 1912.", OTHER),
    (WILSON, "I discussed the case with Professor Wilson.", OTHER),
    (WILSON, "To rule out Wilson disease, measure ceruloplasmin.", NAMED),
    (WILSON, "The patient is negative for Wilson disease on genetic testing.", RULED_OUT),
    (WILSON, "Not only liver failure but also Wilson disease would explain the haemolysis.", NAMED),
    (WILSON, "No fever. Wilson disease is the unifying diagnosis.", NAMED),
    (GPA, "ANCA-negative, and GPA was therefore discarded.", RULED_OUT),
    (GPA, "GPA with renal involvement is the final diagnosis.", NAMED),
    (GPA, "He graduated with a GPA of 3.4.", OTHER),
    (GPA, "GPA for 3 years, now in relapse.", NAMED),
    (GPA, "Without granulomas on biopsy, Wegener's granulomatosis can be dismissed.", RULED_OUT),
    (
        GPA,
        "The absence of granulomatosis with polyangiitis on biopsy points to infection.",
        RULED_OUT,
    ),
    (LUPUS, "Systemic lupus erythematosus should be ruled out first.", NAMED),
    (LUPUS, "SLE does not fit, since ANA are negative.", RULED_OUT),
    (LUPUS, "There are no signs of infection, and SLE is the best explanation.", NAMED),
    (LUPUS, "Neither SLE nor dermatomyositis explains the rash.", RULED_OUT),
    (LUPUS, "Drug-induced lupus erythematosus from hydralazine.", OTHER),
    (LUPUS, "I favour sarcoidosis rather than SLE.", RULED_OUT),
    (LUPUS, "Lupus nephritis in SLE", NAMED),
    (ADDISON, "Am ehesten liegt ein Morbus Addison vor.", NAMED),
    (ADDISON, "Ein Morbus Addison konnte ausgeschlossen werden.", RULED_OUT),
    (ADDISON, "Ein Morbus Addison ist nicht ausgeschlossen.", NAMED),
    (ADDISON, "Das normale Cortisol schließt einen Morbus Addison aus.", RULED_OUT),
    (ADDISON, "Gegen einen Morbus Addison spricht das normale Cortisol.", RULED_OUT),
    (ADDISON, "Keine Hyponatriämie, aber Morbus Addison ist wahrscheinlich.", NAMED),
    (ADDISON, "Morbus Addison muss noch ausgeschlossen werden.", NAMED),
    (ADDISON, "Herr Addison klagt über Müdigkeit.", OTHER),
    (ADDISON, "Tertiäre Nebennierenrindeninsuffizienz nach Steroiden.", OTHER),
    (ADDISON, "Kein Morbus Addison, sondern eine Hypothyreose.", RULED_OUT),
    (ADDISON, "Eine Nebenniereninsuffizienz vom Typ Addison ist möglich.", NAMED),
    (SARCOID, "Ein Hinweis auf eine Sarkoidose ergibt sich nicht.", RULED_OUT),
    (SARCOID, "Die Biopsie ergab keinen Nachweis einer Sarkoidose.", RULED_OUT),
    (SARCOID, "Sarkoidose Stadium II mit bihilärer Lymphadenopathie.", NAMED),
    (SARCOID, "Eine Tuberkulose wurde ausgeschlossen, somit Sarkoidose.", NAMED),
    (SARCOID, "Die Sarkoidose wurde zunächst erwogen und dann verworfen.", RULED_OUT),
    (SARCOID, "Eine Sarkoidose kommt nicht in Betracht.", RULED_OUT),
    (PHEO, "Verdacht auf Phäochromozytom, Katecholamine abnehmen.", NAMED),
    (PHEO, "Ein Phäochromozytom liegt nicht vor.", RULED_OUT),
    (PHEO, "Nach Ausschluss eines Phäochromozytoms bleibt eine Panikstörung.", RULED_OUT),
    (PHEO, "Ohne Hypertonie ist ein Phäochromozytom dennoch möglich.", NAMED),
)
"""46 sentences, 25 English and 21 German."""
