"""Names of drugs in a text: a list of common ones and the stems of the international names.

English and German.

Neither is complete: the list has the drugs that questions name most, and a stem shows a class
(-mab, -statin, -cillin).
"""

from __future__ import annotations

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


DRUGS = _words("""
    abacavir abatacept acetaminophen acetazolamid aciclovir acyclovir adenosin adrenalin albendazol
    albuterol alemtuzumab allopurinol alteplas amantadin amikacin amilorid aminophyllin amiodaron
    amitriptylin amlodipin amphotericin anakinra apixaban aripiprazol aspirin ass azathioprin
    baclofen betahistin bisacodyl bismuth botulinumtoxin bromocriptin budesonid bupropion buspiron
    cabergolin calcitonin calcitriol caplacizumab carbamazepin carbimazol carboplatin caspofungin
    celecoxib charcoal chloroquin ciclosporin cyclosporin cinacalcet cisplatin citalopram
    clomethiazol clonidin clopidogrel clozapin codein colchicin colistin cortison cyclophosphamid
    dabigatran dalteparin dantrolen dapson deferasirox denosumab desmopressin dexamethason
    dexmedetomidin diclofenac digitoxin digoxin dihydroergotamin dimenhydrinat diphenhydramin
    dobutamin docetaxel donepezil dopamin doxorubicin doxycyclin edoxaban empagliflozin enoxaparin
    epinephrin eplerenon ergotamin erythropoietin escitalopram esmolol etanercept ethambutol
    ethosuximid ezetimib fentanyl ferrous fidaxomicin finasterid flecainid fludrocortison flumazenil
    fluorouracil fluoxetin folat fosfomycin fosphenytoin furosemid gabapentin gentamicin
    glibenclamid glimepirid glucagon glucocorticoid glyburid haloperidol heparin hydralazin
    hydrochlorothiazid hydrocortison hydromorphon hydroxychloroquin ibuprofen immunglobulin imatinib
    insulin interferon ipratropium iron isoniazid isosorbid ivabradin ivermectin ketamin ketorolac
    lacosamid lactulos lamotrigin leflunomid letrozol levetiracetam levodopa levosimendan
    levothyroxin lidocain linezolid liothyronin lithium loperamid magnesium mannitol melatonin
    memantin meropenem mesalamin mesalazin metaiodobenzylguanidin metamizol metformin mibg methadon
    methimazol methotrexat methyldopa methylphenidat methylprednisolon metoclopramid metronidazol
    mexiletin midodrin mifepriston milrinon minoxidil mirtazapin misoprostol modafinil morphin
    mycophenolat naloxon naltrexon naproxen natalizumab nimodipin nitrofurantoin nitroglycerin
    nitroprussid noradrenalin norepinephrin nortriptylin octreotid olanzapin opioid oxybutynin
    oxycodon oxytocin paclitaxel paracetamol paroxetin penicillamin penicillin phenobarbital
    phenoxybenzamin phenprocoumon phenytoin pimozid pirfenidon prasugrel prednison prednisolon
    pregabalin primaquin probenecid procainamid promethazin propafenon propofol propylthiouracil
    pyrazinamid pyridostigmin quetiapin quinin ranolazin rasburicas rifampicin rifampin rifaximin
    riluzol risperidon rituximab rivaroxaban roflumilast ropinirol sacubitril salbutamol salmeterol
    semaglutid sertralin sevelamer sildenafil sodiumbicarbonate sotalol spironolacton streptomycin
    sucralfat sulfasalazin sulfamethoxazol tacrolimus tadalafil tamoxifen tamsulosin tenecteplas
    teriparatid testosteron theophyllin thiamazol thiamin thyroxin ticagrelor tiotropium tirzepatid
    tolvaptan topiramat torasemid tramadol tranexamsäur trazodon treprostinil triamteren trientin
    trimethoprim urapidil urokinas ursodiol valproat valproinsäur vancomycin vasopressin venlafaxin
    verapamil vigabatrin vincristin warfarin zidovudin zink zinc zolpidem zonisamid
    """)
"""Names without a final e, in small letters."""
_STEM = re.compile(
    r"(?:\w{3,}(?:mab|tinib|ciclib|rafenib|pril|prilat|sartan|statin|cillin|floxacin|mycin|cyclin|conazol|azol|prazol|"
    r"tidin|olol|dipin|xaban|gatran|parin|gliptin|gliflozin|glutid|glitazon|setron|triptan|zepam|zolam|bactam|penem|"
    r"oxetin|azepin|barbital|caine|cain|curium|curonium|thiazid|semid|sonid|metason|olon|onid|vudin|tegravir|navir|"
    r"buvir|asvir|ciclovir|ivir|parib|limus|cept|kinra|dronat|fibrat|terol|tropium|lukast|platin|rubicin|taxel|"
    r"nercept|plas|grel|afil|lutamid|relin|tocin|stigmin)|cef\w{3,}|sulfa\w{3,})"
)
_WORD = re.compile(r"[^\W\d_]{3,}(?:-[^\W\d_]{4,})?")
_NO_DRUGS = _words("april statin symptom protocol alcohol cholesterol")


def drugs_in(text: str) -> list[tuple[int, int, str]]:
    """Spans (first character, one past the last) and base names of the drugs in a text.

    The base name is the name without its ending.

    >>> text = "Prednisolone or D-Penicillamin, then rituximab; alcohol no."
    >>> [name for _, _, name in drugs_in(text)]
    ['prednisolon', 'penicillamin', 'rituximab']
    """
    drugs = []
    for match in _WORD.finditer(text):
        for word in match[0].split("-"):
            name = canonical_drug(word)
            if name:
                drugs.append((match.start(), match.end(), name))
    return drugs


def canonical_drug(word: str) -> str:
    """A drug's name in small letters and without its ending; empty where the word is none.

    >>> canonical_drug("Furosemide"), canonical_drug("Furosemid"), canonical_drug("fever")
    ('furosemid', 'furosemid', '')
    """
    name = word.lower().removesuffix("s") if word.lower() not in DRUGS else word.lower()
    name = name.removesuffix("e")
    if name in DRUGS or word.lower() in DRUGS:
        return name
    return (
        name
        if _STEM.fullmatch(name) and name not in _NO_DRUGS and word.lower() not in _NO_DRUGS
        else ""
    )
