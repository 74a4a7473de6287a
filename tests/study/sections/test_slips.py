"""What people mistype in study.toml, and what they mean by a codebook, are answered by one sentence
that helps."""

from __future__ import annotations

import pytest

from konsil.errors import StudyError
from konsil.study import check, parse

FORM = """
[[instruments]]
id = "form"
codebook = {codebook}
[[instruments.criteria]]
id = "correct"
question = "Is it correct?"
scale = {{ labels = ["no", "yes"] }}
"""


def read(text: str) -> object:
    def absent(name: str) -> str:
        if "\0" in name:
            raise ValueError("embedded null byte")
        raise FileNotFoundError

    return parse(text, absent)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("title = \u201eStudy\u201c\n", "line 1 has typographic quotation marks"),
        ('title = "a"\nlicence = \u201cCC0\u201d\n', "line 2 has typographic quotation marks"),
        ('title = "a\nseed = 1\n', "line 1 has a quotation mark without its pair"),
        ('title = a"\n', "line 1 has a quotation mark without its pair"),
        ("title = My study\n", 'put a text in quotation marks, such as "My study"'),
        ("x = " + "[" * 100_000, "nested too deeply"),
        ("simulated = True\n", "line 1: write true in lower case"),
        ("blinded = no\n", "line 1: write false in lower case"),
        ("seed = 0,95\n", "line 1: use a decimal point: 0.95"),
        ("seed == 1\n", "line 1: write one = between a key and its value"),
        ("seed = 1,\n", "line 1: no comma follows a value"),
        ('title = "a",\n', "line 1: no comma follows a value"),
        ("seed = 01\n", "line 1: a number does not begin with 0"),
        ('[[systems]\nid = "a"\n', "line 1: a header has as many ] as ["),
        ('x = ["1", "2" "3"]\n', "line 1: put a comma between two values of a list"),
        ('x = { labels = ["1", "2", level = "ordinal" }\n', "line 1 has a [ without its ]"),
        ('x = { labels = ["1", "2"]\nseed = 1\n', "line 1 has a { without its }"),
        ("seed =\n", "line 1: a value follows the ="),
        ('title: "a"\n', "line 1: write = and not : between a key and its value"),
        (
            'my title = "a"\n',
            "line 1: a key is one word; put quotation marks around one with spaces",
        ),
        ('title = "C:\\Users"\n', "line 1 has a backslash: write / in the name of a file"),
        (
            'title = "a"\nseed = 1\ntitle = "b"\n',
            "line 3 gives title a second time in the same table",
        ),
        ("[resampling]\n[resampling]\n", "line 2: [resampling] occurs twice in the file"),
        (
            '[raters]\nid = "a"\n[[raters]]\n',
            "line 1: write [[raters]] with two brackets on each side",
        ),
        (
            '[[raters]]\nid = "a"\n[raters]\n',
            "line 3: write [[raters]] with two brackets on each side",
        ),
        (
            "[[instruments]]\n[instruments.criteria]\n[[instruments.criteria]]\n",
            "line 2: write [[instruments.criteria]] with two brackets on each side",
        ),
    ],
)
def test_a_slip_gets_a_hint(text: str, sentence: str) -> None:
    with pytest.raises(StudyError) as error:
        read(text)
    assert "not valid TOML" in str(error.value)
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            '[raters]\nid = "a"\n',
            (
                "raters: expected [[raters]] with two brackets on each side, since there may be"
                " several"
            ),
        ),
        (
            "[[resampling]]\n",
            "resampling: expected one table, [resampling], got a list of tables, [[resampling]]",
        ),
        (
            '[[instruments]]\nid = "form"\n[instruments.criteria]\nid = "c"\n',
            (
                "instruments[0].criteria: expected [[instruments.criteria]] with two brackets on"
                " each side"
            ),
        ),
    ],
)
def test_the_wrong_number_of_brackets(text: str, sentence: str) -> None:
    with pytest.raises(StudyError) as error:
        read(f'title = "a"\nseed = 1\n{text}')
    assert str(error.value).startswith(f"study.toml: {sentence}")


def test_quotation_marks_inside_a_text_are_no_slip() -> None:
    with pytest.raises(StudyError) as error:
        read('title = "say \u201eso\u201c \\" there"\nseed = = 1\n')
    assert "quotation" not in str(error.value)


@pytest.mark.parametrize(
    "value",
    [
        *(
            "codebook.txt",
            "codebook.en.MD",
            "/etc/passwd",
            "../codebook",
            "My codebook.docx",
            "C:\\books\\one",
            "~/book",
        ),
        *("codebook", "docs/codebook_v2", " codebook "),
    ],
)
def test_the_name_of_a_file_is_not_taken_for_a_codebook(value: str) -> None:
    with pytest.raises(
        StudyError, match=r"instruments\[0\]\.codebook: .* looks like the name of a file; expected"
    ):
        read('title = "t"\nseed = 1' + FORM.format(codebook=f"'{value}'"))


@pytest.mark.parametrize(
    "value", ['"Rate 5/10 or less as wrong."', '"""codebook.txt\n"""', '"See e.g. and/or."', '""']
)
def test_a_text_is_a_codebook(value: str) -> None:
    study = read('title = "t"\nseed = 1' + FORM.format(codebook=value))
    assert study.instruments[0].codebook is not None  # type: ignore[attr-defined]


def test_a_name_that_no_file_can_have() -> None:
    with pytest.raises(StudyError, match="cannot be the name of a file"):
        read('title = "t"\nseed = 1' + FORM.format(codebook='"a\\u0000b.md"'))


@pytest.mark.parametrize("language", ["xx-klingon", "xx", "", "german"])
def test_a_language_that_is_not_there_is_refused(language: str) -> None:
    study = read(f'title = "t"\nseed = 1\nlanguage = "{language}"' + FORM.format(codebook='""'))
    with pytest.raises(StudyError, match="language: there is no"):
        check(study)  # type: ignore[arg-type]


@pytest.mark.parametrize("language", ["", "german", "de CH", "d", "de-"])
def test_the_language_of_a_form_is_a_code(language: str) -> None:
    form = FORM.format(codebook='""').replace(
        'id = "form"', f'id = "form"\nlanguage = "{language}"'
    )
    with pytest.raises(
        StudyError,
        match=r"instruments\[0\]\.language: .* is not a language code; expected one such",
    ):
        check(read('title = "t"\nseed = 1' + form))  # type: ignore[arg-type]


@pytest.mark.parametrize("language", ["it", "pt-BR", "de_CH", "zh-Hans-CN"])
def test_a_form_may_be_in_any_language(language: str) -> None:
    form = FORM.format(codebook='""').replace(
        'id = "form"', f'id = "form"\nlanguage = "{language}"'
    )
    check(read('title = "t"\nseed = 1' + form))  # type: ignore[arg-type]


@pytest.mark.parametrize("language", ["de", "en", "de-CH", "en_GB"])
def test_the_variant_of_a_language_is_that_language(language: str) -> None:
    check(read(f'title = "t"\nseed = 1\nlanguage = "{language}"' + FORM.format(codebook='""')))  # type: ignore[arg-type]
