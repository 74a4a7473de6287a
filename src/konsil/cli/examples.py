"""The examples at the end of each command's help."""

from __future__ import annotations

EXAMPLES = {
    "demo": ("konsil demo", "konsil demo first-study"),
    "agreement": (
        "konsil agreement ratings.csv --level ordinal",
        "konsil agreement ratings.csv --long --unit item --rater rater --label label",
    ),
    "compare": (
        "konsil compare ratings.csv --by system --success correct",
        "konsil compare scores.xlsx --by model --reference model-a --to docx",
    ),
    "preference": (
        "konsil preference comparisons.csv",
        "konsil preference wins.csv --won won --lost lost --tied tied",
    ),
    "statistics": ("konsil statistics", "konsil statistics krippendorff_alpha"),
    "new": ("konsil new my-study", "konsil new my-study --guided"),
    "design": ("konsil design my-study",),
    "check": ("konsil check my-study", "konsil check --statistics"),
    "explain": ("konsil explain analyses.compare", "konsil explain resampling"),
    "codebook": ("konsil codebook my-study --pdf codebook.pdf",),
    "import": (
        "konsil import my-study",
        "konsil import my-study --file answers.csv --records answers --column item=id",
    ),
    "screen": (
        "konsil screen my-study --table flagged.csv",
        "konsil screen my-study --decisions flagged.csv --by reviewer-1",
    ),
    "duplicates": (
        "konsil duplicates my-study --table duplicates.csv",
        "konsil duplicates my-study --decisions duplicates.csv --by reviewer-1",
    ),
    "prepare": ("konsil prepare my-study --dry-run", "konsil prepare my-study"),
    "mask": (
        "konsil mask my-study --table marks.csv",
        "konsil mask my-study --marks marks.csv --by reviewer-1",
    ),
    "probe": (
        "konsil probe my-study --model local:smollm2 --dry-run",
        "konsil probe my-study --model local:smollm2 --table guesses.csv",
    ),
    "rewrite": (
        "konsil rewrite my-study --table questions.csv --limit 20",
        "konsil rewrite my-study --decisions questions.csv --by reviewer-1",
    ),
    "themes": (
        "konsil themes my-study --table themes.csv",
        "konsil themes my-study --decisions themes.csv --by reviewer-1",
    ),
    "curation": ("konsil curation my-study --table decisions.csv",),
    "plan": ("konsil plan my-study --dry-run", "konsil plan my-study --strict"),
    "answer": ("konsil answer my-study --dry-run", "konsil answer my-study --budget 5"),
    "judge": ("konsil judge my-study --dry-run", "konsil judge my-study --budget 5"),
    "serve": ("konsil serve my-study", "konsil serve my-study --port 8080"),
    "invite": (
        "konsil invite my-study",
        "konsil invite my-study --who physician-1 --days 14",
    ),
    "letters": ("konsil letters my-study --dry-run", "konsil letters my-study --due"),
    "kit": ("konsil kit my-study", "konsil kit my-study --rater physician-1"),
    "withdraw": (
        "konsil withdraw my-study --rater physician-1 --dry-run",
        'konsil withdraw my-study --rater physician-1 --reason "no time" --by coordinator-1',
    ),
    "places": (
        "konsil places my-study",
        "konsil places my-study --add 2 --panel physicians --by coordinator-1",
    ),
    "succeed": (
        "konsil succeed my-study",
        "konsil succeed my-study --slot physician-1 --rater physician-9 --by coordinator-1",
    ),
    "close": (
        "konsil close my-study",
        "konsil close my-study --batch 1 --by coordinator-1",
    ),
    "adjudication": (
        "konsil adjudication my-study",
        "konsil adjudication my-study --open --by coordinator-1",
    ),
    "interim": (
        "konsil interim my-study",
        "konsil interim my-study --look 1",
    ),
    "status": ("konsil status my-study",),
    "simulate": ("konsil simulate my-study --to simulated --seed 7",),
    "power": (
        "konsil power my-study --studies 100",
        "konsil power my-study --items 200 --output power.csv",
    ),
    "rehearse": ("konsil rehearse my-study", "konsil rehearse my-study --to trial --most 20"),
    "accept": ('konsil accept my-study --reason "typing error in the guidance" --by owner-1',),
    "freeze": ('konsil freeze my-study --by owner-1 --note "before data collection"',),
    "unblind": ('konsil unblind my-study --by owner-1 --reason "all batches are closed"',),
    "analyse": ("konsil analyse my-study", "konsil analyse my-study --output results"),
    "report": ("konsil report my-study", "konsil report my-study --to docx --checklist grras"),
    "export": (
        "konsil export my-study records",
        "konsil export my-study release --release --format parquet",
    ),
    "local": ("konsil local install", "konsil local list"),
    "local install": (
        "konsil local install",
        "konsil local install --file weights.gguf --id my-model",
    ),
    "local list": ("konsil local list",),
    "local remove": ("konsil local remove my-model",),
    "backup": (
        "konsil backup my-study backups --encrypt-to backup-key.pub --keep 14",
        "konsil backup my-studies backups --encrypt-to backup-key.pub --keep 14",
    ),
    "backup-key": ("konsil backup-key backup-secret.key",),
    "restore": (
        "konsil restore backups/my-study.tar my-study-restored",
        "konsil restore backups/my-study.tar.age --key backup-secret.key --check",
    ),
    "verify-log": ("konsil verify-log my-study",),
    "erase": ('konsil erase my-study physician-1 --by owner-1 --reason "consent withdrawn"',),
    "person": ("konsil person my-study physician-1 own-data.json",),
    "log": (
        "konsil log my-study --last 20",
        "konsil log my-study --kind import --output imports.csv",
    ),
}
"""Command, also one of a group -> one or two examples, which are command lines of a shell."""


def examples_block(name: str) -> str:
    r"""The examples of a command as the end of its help; click keeps the lines after its sign.

    >>> examples_block("status")
    '\x08\nExamples:\n  konsil status my-study'
    """
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in EXAMPLES[name])])
