"""Abbreviations of German and English clinical writing, and whether a sentence may end on them."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NEVER_LAST = _words("""
    z.B. d.h. a.d. u.a. v.a. V.a. i.d.R. i.Allg. i.S. i.S.v. i.R. i.R.d. o.g. u.g. z.T. z.Zt. Z.n.
    Z.A. z.A. z.H. a.e. A.e. ca. bzw. ggf. wg. Bek. bek. evtl. mind. max. sog. vgl. lt. gem. inkl.
    exkl. zzgl. insb. insbes. bes. entspr. einschl. ausschl. od. bspw. jew. zus. mgl. anschl. tägl.
    nächtl. wöchentl. gesetzl. örtl. freundl. stat. amb. chron. entz. art. rez. prim. allg. gyn.
    neurol. chir. klin. ärztl. int. postop. präop. intraop. niedergel. neurophysiol. empf. rel.
    sonogr. radiol. histol. makroskop. mikroskop. diab. mell. Diab. Sonogr. Dr. med. Prof. Hr. Fr.
    Med. Dipl. Doz. St. Nr. Abb. Tab. Abs. Abschn. Kap. Bd. Aufl. Hrsg. Tel. tel. Str. Vit. vit. vs.
    I.E. e.g. i.e. viz. approx. incl. esp. resp. Mr. Mrs. Ms. Messrs. Drs. Fig. Figs. fig. figs.
    Ref. ref. refs. Sec. pp. Eq. vol. Vol. cf. Dept. succ. Mt. Ft. Ann. Gen. Intern. Suppl. Comm.
    """)
"""Always followed by more of the sentence; a small letter may be a capital at the beginning."""

BEFORE_NUMBER = _words("""
    no. nos. nr. s. p. jan. feb. febr. mär. mar. apr. jun. jul. aug. sep. sept. okt. oct. nov. dez.
    dec. wk. ch. art. par. op. hr. sec. vers. st. plts.
    """)
"""Followed by more where that is a number; else they may be the last word, and some are no
abbreviation at all."""

MAYBE_LAST = _words("""
    usw. etc. u.s.w. u.ä. o.ä. u.dgl. o.dgl. dgl. u.v.m. u.v.a. m.e. s.o. s.u. z.n. ff. al. ed. eds.
    ders. ebd. z.h. p.o. i.v. i.m. s.c. s.l. p.r. p.i. i.n. a.p. p.a. seitl. lat. re. li. bds.
    beidseits. tgl. wö. mon. wo. std. sek. min. stck. tbl. tabl. trpf. amp. pat. pkt. jh. jhd. geb.
    gest. verh. led. unauff. o.b. o.p.b. n.n. a.d. i.o. pos. neg. säugl. b.i.d. t.i.d. q.i.d. q.d.
    q.h. q.o.d. h.s. q.h.s. q.a.m. p.r.n. a.c. p.c. a.m. p.m. hr. hrs. wk. wks. mo. mos. yr. yrs.
    mins. sec. secs. pt. pts. tab. tabs. cap. caps. gtt. susp. sol. inj. wt. ht. hx. sx. dx. tx. rx.
    fx. bx. y.o. yo. temp. m.d. ph.d. d.o. r.n. n.p. inc. ltd. co. jr. sr. in. lb. lbs. oz.
    """)
"""The last word of a sentence where what follows looks like the beginning of one."""

OF_TWO_LANGUAGES = _words("resp. stat. art. int.")
"""Abbreviations of German that are words or last words in English: a word that begins English
sentences decides."""

DURATIONS = _words(
    "sek. min. std. tg. wo. mon. j. sec. secs. mins. hr. hrs. wk. wks. mo. mos. yr. yrs."
)
"""Of time: may be the last word, or be counted before a noun, as in *2 Std. Abstand*."""

SIDES = _words("bds. re. li. lat. seitl.")
"""Of sides: behind what they are of, or before it, as in *leichte bds. Ödeme*."""

FOLLOWED_BY = {
    "y.o.": _words("M F W B AAM AAF WM WF BM BF African Asian Black Caucasian Hispanic White"),
    "yo.": _words("M F W B AAM AAF WM WF BM BF African Asian Black Caucasian Hispanic White"),
    "trop.": _words("I T"),
}
"""Abbreviations that a certain word with a capital belongs to, as in *54 y.o. M* and *Trop. I*."""

UNITS = _words("h. d. e. s. m. g. l. w. y. j. t. c. f. k. v. x.")
"""Units of one letter, which count what is before them and may be the last word, as in *24 h.*; *b.
Bed.* does not."""

COUNTRIES = _words("u.s. u.k. u.s.a. e.u.")
"""A name may follow, as in U.S. Preventive Services Task Force; a pronoun or article begins a
sentence."""

STARTERS = _words("""
    a an the it its this that these those he she they we you i there here in on at for if when while
    after before because although however and but or so no not do does did is are was were has have
    had can could may might should will would please take use ask your my our his her their as by
    with from to all most many some each
    """)
"""Words of English that begin a sentence."""

ORDINAL_AFTER = _words(
    "am vom zum zur im beim der dem den des die das jede jeden jedem jeder eine einen einer einem"
)
"""Words of German after which a number with a full stop is an ordinal, and an abbreviation an
adjective."""

INFLECTED = ("e", "en", "em", "er", "es")
"""How an adjective of German ends before its noun."""

ORDINAL_BEFORE = _words("""
    januar februar märz april mai juni juli august september oktober november dezember jan feb febr
    mär apr jun jul aug sep sept okt nov dez tag tages tage woche wochen monat monats jahr jahres
    lebensjahr lebensjahres lebenswoche ssw wahl mal quartal trimenon schritt stufe grad grades
    zyklus dosis gabe impfung auflage jahrhundert hälfte
    """)
"""Words of German before which a number with a full stop is an ordinal."""

KIND_OF = _words("""
    vitamin vit. hepatitis typ type gruppe group blutgruppe faktor factor klasse class grad grade
    stadium stage protein influenza plan option antwort answer variante version phase teil part
    child
    """)
"""Words that a capital of its own belongs to, as in hepatitis B; anywhere else it stands for a
name."""
