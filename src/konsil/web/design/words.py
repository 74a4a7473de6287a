"""The words of roles, reasons and analyses, for pages and for the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from konsil.design.proposals import Proposal
from konsil.design.questions import Kind
from konsil.design.stages import Need, StageName
from konsil.design.tables.columns import Role
from konsil.design.tables.guessing import Confidence, Guess, Reason, TableForm

Gettext = Callable[[str], str]


def role_words(_: Gettext) -> Mapping[Role, str]:
    """What a column can hold, in the order in which it is offered."""
    return {
        "unused": _("not used"),
        "item": _("number of the question"),
        "text": _("text of the question"),
        "reference": _("reference answer"),
        "stratum": _("group of the question, such as specialty"),
        "system": _("name of the system (a row for each answer)"),
        "answer": _("text of the answer"),
        "answer_of": _("answers of the system named in the heading"),
        "rater": _("who rated"),
        "criterion": _("which question was rated"),
        "label": _("the rating (a row for each rating)"),
        "label_of_criterion": _("ratings on the question in the heading"),
        "label_of_rater": _("ratings by the rater in the heading"),
        "label_of_both": _("ratings by the rater, on the question, in the heading"),
        "label_of_item": _("ratings of the item in the heading (a row for each rater)"),
        "count": _("how often the label in the heading was chosen"),
        "row_label": _("label of the other rater, in a cross table"),
        "system_a": _("first system of a comparison"),
        "system_b": _("second system of a comparison"),
        "seconds": _("seconds that the rating took"),
        "note": _("remark of the rater"),
        "repeat": _("number of a repeated rating"),
        "own": _("a further field of konsil"),
    }


def form_words(_: Gettext) -> Mapping[TableForm, str]:
    """How a table can be laid out."""
    return {
        "questions": _("a row for each question"),
        "answers": _("a row for each answer"),
        "wide": _("ratings: a column for each rater"),
        "long": _("ratings: a row for each rating, or for each rater and answer"),
        "raters-in-rows": _("ratings: a row for each rater, a column for each item"),
        "pairs": _("a row for each comparison of two systems"),
        "counts": _("numbers of raters: a column for each label"),
        "cross-table": _("a cross table of two raters"),
    }


def confidence_words(_: Gettext) -> Mapping[Confidence, str]:
    """How sure a guess is."""
    return {"sure": _("clear"), "likely": _("likely"), "unsure": _("please check")}


def reason_words(guess: Guess, _: Gettext) -> str:
    """Why a role is proposed."""
    words: Mapping[Reason, str] = {
        "name": _("Heading and content fit."),
        "content": _("The content fits."),
        "known systems": _("The values are systems of the study."),
        "a column for each system": _("Texts, in a column for each system."),
        "a column for each rater": _("Ratings of the same kind, in a column for each rater."),
        "a column for each question": _("Ratings, in a column for each question."),
        "a column for each rater and question": _(
            "Ratings, in a column for each rater and question."
        ),
        "a column for each item": _("Ratings of the same kind, in a row for each rater."),
        "a column for each label": _("Whole numbers, in a column for each label."),
        "konsil's own name": _("The heading is the name of a field of konsil."),
        "nothing fits": _("Neither heading nor content fits anything."),
    }
    return words[guess.reason]


def kind_words(_: Gettext) -> Mapping[Kind, str]:
    """The scales of a question."""
    return {
        "five": _("five-point scale"),
        "yesno": _("yes or no"),
        "ordered": _("own labels, from low to high"),
        "choice": _("own labels, without an order"),
        "pair3": _("preference between two answers, with a tie"),
        "pair5": _("preference in five steps, with a tie"),
        "other": _("a number, a text or another scale (stays as it is)"),
    }


def purpose_words(proposal: Proposal, _: Gettext) -> str:
    """What an analysis answers, in a sentence."""
    words = {
        "agreement": _("How well do these raters agree with one another, beyond chance?"),
        "mean": _("Which system is rated better on average, and by how much?"),
        "share": _("How often does each system get “%(label)s”, and how do systems differ?"),
        "wins": _("Which system wins more comparisons than it loses?"),
        "against": _("How well does each judge agree with the majority of “%(other)s”?"),
        "against two": _(
            "How well does each judge agree with the two raters of “%(other)s”, compared with how"
            " well they agree with each other?"
        ),
        "repeats": _("How often does a rater give the same rating a second time?"),
        "own": _("An analysis of this file."),
    }
    sentence = words[proposal.purpose].replace("%(label)s", proposal.label)
    return sentence.replace("%(other)s", proposal.other)


def need_words(_: Gettext) -> Mapping[Need, str]:
    """What a stage lacks, in a sentence."""
    return {
        "title": _("The study has no title."),
        "problems": _("The check of the study lists problems."),
        "questions": _("No question to the raters is stated."),
        "raters": _("No rater is stated."),
        "models": _("A judge has no language model yet."),
        "lines": _("No panel rates on a form."),
        "sources": _("No table of questions, answers or ratings is stated."),
        "files": _("A table of the study is missing in its folder."),
        "analyses": _("No analysis is chosen."),
        "import": _("The data are not imported yet."),
        "answers": _("A language model that is evaluated has not answered yet."),
        "plan": _("The tasks are not assigned yet."),
        "ratings": _("There are no ratings yet."),
    }


def stage_words(_: Gettext) -> Mapping[StageName, str]:
    """The stages of a study."""
    return {
        "import": _("Import the data"),
        "answer": _("Collect the models' answers"),
        "plan": _("Assign the tasks"),
        "rehearse": _("Rehearse the study"),
        "judge": _("Collect the ratings of LLM judges"),
        "invite": _("Invite the raters"),
        "office": _("Open the study dashboard"),
        "report": _("Report and manuscript"),
        "table": _("Table 2"),
    }
