"""Bodies of errors as the vendors document them, and what each of them means for a run."""

from __future__ import annotations

from typing import Any, NamedTuple

QUESTION = (
    "Question q3 about the patient's temperature of 39, an unknown seed of unsupported fever?"
)


class Documented(NamedTuple):
    """One documented error."""

    name: str
    status: int
    body: Any
    kind: str
    """The name of our error's class."""
    wait: float | None = None
    parameter: str = ""


def openai(
    message: str,
    code: str | None = None,
    param: str | None = None,
    kind: str = "invalid_request_error",
) -> Any:
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def google(code: int, status: str, message: str, *details: Any) -> Any:
    return [
        {"error": {"code": code, "message": message, "status": status, "details": list(details)}}
    ]


def anthropic(kind: str, message: str) -> Any:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


_RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "20s"}
_BLOCKED_PAGE = (
    "<!DOCTYPE html><title>Attention Required! | Cloudflare</title><h1>Sorry, you have been"
    " blocked</h1>"
)
_FLAGGED = {"reasons": ["self-harm"], "flagged_input": QUESTION[:50], "provider_name": "OpenAI"}
_UNSUPPORTED = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use"
    " 'max_completion_tokens' instead."
)
_TOO_MANY = (
    "max_tokens is too large: 100000. This model supports at most 4096 completion tokens, whereas"
    " you provided 100000."
)
_AZURE = (
    "The response was filtered due to the prompt triggering Azure OpenAI's content management"
    " policy."
)

DOCUMENTED = (
    # One item is withheld.
    Documented(
        "openrouter moderation",
        403,
        {
            "error": {
                "code": 403,
                "message": "Your chosen model requires moderation and your input was flagged",
                "metadata": _FLAGGED,
            }
        },
        "FilteredError",
    ),
    Documented(
        "azure content filter",
        400,
        {
            "error": {
                "message": _AZURE,
                "type": None,
                "param": "prompt",
                "code": "content_filter",
                "status": 400,
                "innererror": {"code": "ResponsibleAIPolicyViolation"},
            }
        },
        "FilteredError",
    ),
    Documented(
        "openai usage policy",
        400,
        openai(
            "Invalid prompt: your prompt was flagged as potentially violating our "
            "usage policy. Please try again with a different prompt.",
            "invalid_prompt",
        ),
        "FilteredError",
    ),
    Documented("deepseek risk", 400, openai("Content Exists Risk"), "FilteredError"),
    Documented(
        "alibaba inspection",
        400,
        openai("Input data may contain inappropriate content.", "data_inspection_failed"),
        "FilteredError",
    ),
    Documented("a firewall's page", 403, _BLOCKED_PAGE, "FilteredError"),
    Documented("forbidden, no more", 403, "Forbidden", "FilteredError"),
    # The key, the account or the address.
    Documented(
        "openai key",
        401,
        openai("Incorrect API key provided: [key].", "invalid_api_key"),
        "AccountError",
    ),
    Documented(
        "openai region",
        403,
        openai(
            "Country, region, or territory not supported", "unsupported_country_region_territory"
        ),
        "AccountError",
    ),
    Documented(
        "openai model access",
        403,
        openai("Project `p` does not have access to model `m`", "model_not_found"),
        "AccountError",
    ),
    Documented(
        "google permission",
        403,
        google(403, "PERMISSION_DENIED", "Permission denied on resource project p."),
        "AccountError",
    ),
    Documented(
        "google key",
        400,
        google(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
        "AccountError",
    ),
    Documented(
        "anthropic permission",
        403,
        anthropic(
            "permission_error",
            "Your API key does not have permission to use the specified resource.",
        ),
        "AccountError",
    ),
    Documented(
        "anthropic credit",
        400,
        anthropic(
            "invalid_request_error", "Your credit balance is too low to access the Anthropic API."
        ),
        "AccountError",
    ),
    Documented(
        "openai quota",
        429,
        openai(
            "You exceeded your current quota, please check your plan and billing details.",
            "insufficient_quota",
            None,
            "insufficient_quota",
        ),
        "AccountError",
    ),
    Documented(
        "openai credits",
        429,
        openai(
            "Your organization has no credits left.",
            "credit_balance_exhausted",
            None,
            "insufficient_quota",
        ),
        "AccountError",
    ),
    Documented(
        "openai spend limit of a project",
        429,
        openai(
            "The project has reached its spend limit.",
            "project_spend_limit_exceeded",
            None,
            "billing_error",
        ),
        "AccountError",
    ),
    Documented(
        "openai usage limit of an organization",
        429,
        openai(
            "The organization has reached its limit.",
            "organization_usage_limit_exceeded",
            None,
            "billing_error",
        ),
        "AccountError",
    ),
    Documented(
        "anthropic key", 401, anthropic("authentication_error", "invalid x-api-key"), "AccountError"
    ),
    Documented(
        "anthropic billing",
        402,
        anthropic("billing_error", "There is a problem with your billing."),
        "AccountError",
    ),
    Documented(
        "anthropic limit of a workspace",
        400,
        anthropic(
            "invalid_request_error",
            "You have reached your specified workspace API usage limits. You will regain access on"
            " 2026-06-01 at 00:00 UTC.",
        ),
        "AccountError",
    ),
    Documented(
        "anthropic limit of a tier",
        429,
        {
            "type": "error",
            "error": {
                "type": "rate_limit_error",
                "message": "API usage is paused until the next month.",
                "details": {"error_code": "enforced_spend_limit_reached"},
            },
        },
        "AccountError",
    ),
    Documented(
        "google free tier",
        400,
        google(
            400,
            "FAILED_PRECONDITION",
            "Gemini API free tier is not available in your country. Please enable billing on your"
            " project.",
        ),
        "AccountError",
    ),
    Documented(
        "google prepaid credits",
        402,
        google(402, "RESOURCE_EXHAUSTED", "Your prepayment credits are depleted."),
        "AccountError",
    ),
    Documented(
        "google daily quota",
        429,
        google(
            429,
            "RESOURCE_EXHAUSTED",
            "You exceeded your current quota, please check your plan and billing details.",
            {
                "@type": "type.googleapis.com/google.rpc.Help",
                "links": [{"description": "Learn more about quotas"}],
            },
        ),
        "AccountError",
    ),
    Documented(
        "azure network",
        403,
        {
            "error": {
                "code": "403",
                "message": "Access denied due to Virtual Network/Firewall rules.",
            }
        },
        "AccountError",
    ),
    Documented(
        "openrouter limit of a key",
        403,
        {
            "error": {
                "code": 403,
                "message": "Key limit exceeded (total limit). Manage it in the settings.",
            }
        },
        "AccountError",
    ),
    Documented(
        "openrouter credits",
        402,
        {"error": {"code": 402, "message": "Insufficient credits"}},
        "AccountError",
    ),
    Documented(
        "ollama model", 404, openai('model "m" not found, try pulling it first'), "AccountError"
    ),
    # Patience.
    Documented(
        "openai rate",
        429,
        openai(
            "Rate limit reached for gpt-4o in organization org-1 on tokens per min (TPM): Limit "
            "30000, Used 29500, Requested 1500. Please try again in 2.5s.",
            "rate_limit_exceeded",
        ),
        "BusyError",
        2.5,
    ),
    Documented(
        "openai rate, minutes",
        429,
        openai(
            "Rate limit reached. Please try again in 1m12s. Visit the page.", "rate_limit_exceeded"
        ),
        "BusyError",
        72.0,
    ),
    Documented(
        "google exhausted",
        429,
        google(
            429,
            "RESOURCE_EXHAUSTED",
            "You exceeded your current quota, please check your plan and billing details.",
            _RETRY,
        ),
        "BusyError",
        20.0,
    ),
    Documented(
        "google overloaded",
        503,
        google(503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
        "BusyError",
    ),
    Documented(
        "openai slow down",
        503,
        openai(
            "Slow down and increase your rate gradually.",
            "slow_down",
            None,
            "service_unavailable_error",
        ),
        "BusyError",
    ),
    Documented(
        "openai overloaded",
        503,
        openai("The engine is busy.", "server_is_overloaded", None, "service_unavailable_error"),
        "BusyError",
    ),
    Documented(
        "azure calls",
        429,
        {
            "error": {
                "code": "429",
                "message": (
                    "Requests to the ChatCompletions_Create Operation under Azure OpenAI API"
                    " version 2023-05-15 have exceeded call rate limit of your current OpenAI S0"
                    " pricing tier. Please retry after 3 seconds."
                ),
            }
        },
        "BusyError",
        3.0,
    ),
    Documented(
        "azure demand",
        429,
        {
            "error": {
                "code": "429",
                "message": (
                    "The system is currently experiencing high demand and cannot process your"
                    " request. Please retry after 20 seconds."
                ),
            }
        },
        "BusyError",
        20.0,
    ),
    Documented(
        "mistral rate",
        429,
        {
            "object": "error",
            "message": "Rate limit exceeded",
            "type": "rate_limited",
            "param": None,
            "code": "1300",
            "raw_status_code": 429,
        },
        "BusyError",
    ),
    Documented(
        "mistral capacity, 503",
        503,
        {
            "object": "error",
            "message": "Service tier capacity exceeded for this model.",
            "type": "invalid_request_error",
            "param": None,
            "code": None,
        },
        "BusyError",
    ),
    Documented(
        "ollama queue",
        503,
        openai(
            "server busy, please try again.  maximum pending requests exceeded",
            None,
            None,
            "api_error",
        ),
        "BusyError",
    ),
    Documented("anthropic rate", 429, anthropic("rate_limit_error", "Rate limited."), "BusyError"),
    Documented(
        "anthropic overloaded", 529, anthropic("overloaded_error", "Overloaded"), "BusyError"
    ),
    Documented(
        "anthropic overloaded, 500", 500, anthropic("overloaded_error", "Overloaded"), "BusyError"
    ),
    Documented(
        "mistral capacity",
        429,
        {
            "object": "error",
            "message": "Service tier capacity exceeded for this model.",
            "type": "service_tier_capacity_exceeded",
            "code": "3505",
        },
        "BusyError",
    ),
    Documented(
        "openrouter, in a reply",
        200,
        {"error": {"message": "Rate limit exceeded: free-models-per-min.", "code": 429}},
        "BusyError",
    ),
    # Failures.
    Documented(
        "openai fault",
        500,
        openai(
            "The server had an error while processing your request. Sorry about that!",
            None,
            None,
            "server_error",
        ),
        "ServerError",
    ),
    Documented(
        "anthropic fault", 500, anthropic("api_error", "Internal server error"), "ServerError"
    ),
    Documented(
        "anthropic timeout", 504, anthropic("timeout_error", "Request timed out."), "ServerError"
    ),
    Documented(
        "google fault",
        500,
        google(500, "INTERNAL", "An internal error has occurred."),
        "ServerError",
    ),
    Documented(
        "google deadline", 504, google(504, "DEADLINE_EXCEEDED", "Deadline expired."), "ServerError"
    ),
    Documented(
        "openrouter routing",
        503,
        {
            "error": {
                "code": 503,
                "message": "There is no available model provider that meets your requirements",
            }
        },
        "ServerError",
    ),
    Documented(
        "a proxy's page",
        503,
        "<html><h1>503 Service Temporarily Unavailable</h1></html>",
        "ServerError",
    ),
    Documented(
        "openrouter provider",
        200,
        {"error": {"message": "Provider returned error", "code": 502}},
        "ServerError",
    ),
    # A parameter, by its name.
    Documented(
        "openai temperature",
        400,
        openai(
            "Unsupported value: 'temperature' does not support 0.2 with this model. Only "
            "the default (1) value is supported.",
            "unsupported_value",
            "temperature",
        ),
        "ParameterError",
        None,
        "temperature",
    ),
    Documented(
        "openai cap",
        400,
        openai(_UNSUPPORTED, "unsupported_parameter", "max_tokens"),
        "ParameterError",
        None,
        "max_tokens",
    ),
    Documented(
        "google seed",
        400,
        google(
            400,
            "INVALID_ARGUMENT",
            'Invalid JSON payload received. Unknown name "seed": Cannot find field.',
        ),
        "ParameterError",
        None,
        "seed",
    ),
    Documented(
        "pydantic seed",
        422,
        {
            "detail": [
                {
                    "type": "extra_forbidden",
                    "loc": ["body", "seed"],
                    "msg": "Extra inputs are not permitted",
                    "input": 7,
                }
            ]
        },
        "ParameterError",
        None,
        "seed",
    ),
    Documented(
        "anthropic temperature",
        400,
        anthropic("invalid_request_error", "temperature: Extra inputs are not permitted"),
        "ParameterError",
        None,
        "temperature",
    ),
    # This request, and no parameter of it.
    Documented(
        "pydantic repeats the question",
        422,
        {
            "detail": [
                {
                    "type": "value_error",
                    "loc": ["body", "messages"],
                    "msg": "Value error, invalid prompt",
                    "input": QUESTION,
                }
            ]
        },
        "RequestError",
    ),
    Documented(
        "a server repeats the question", 400, {"message": f"invalid: {QUESTION}"}, "RequestError"
    ),
    Documented(
        "a server repeats the request",
        422,
        {"error": {"message": "invalid request", "input": {"temperature": 0.2, "seed": 7}}},
        "RequestError",
    ),
    Documented(
        "openai context",
        400,
        openai(
            "This model's maximum context length is 8192 tokens. However, you requested 9000 "
            "tokens (8500 in the messages, 500 in the completion).",
            "context_length_exceeded",
            "messages",
        ),
        "RequestError",
    ),
    Documented(
        "vllm context",
        400,
        {
            "object": "error",
            "message": (
                "This model's maximum context length is 6048 tokens. However, you requested 6616"
                " tokens (568 in the messages, 6048 in the completion). Please reduce the length of"
                " the messages or completion."
            ),
            "type": "BadRequestError",
            "param": None,
            "code": 400,
        },
        "RequestError",
    ),
    Documented(
        "vllm context, by name",
        400,
        {
            "error": {
                "message": (
                    "You passed 1015 input tokens and requested 10 output tokens. However, the"
                    " model's context length is only 1024 tokens. Please reduce the length of the"
                    " input prompt. (parameter=input_tokens)"
                ),
                "type": "BadRequestError",
                "param": "input_tokens",
                "code": 400,
            }
        },
        "RequestError",
    ),
    Documented(
        "vllm no room for a reply",
        400,
        {
            "object": "error",
            "message": "max_tokens must be at least 1, got -186.",
            "type": "BadRequestError",
            "param": None,
            "code": 400,
        },
        "RequestError",
    ),
    Documented(
        "anthropic too large",
        413,
        anthropic("request_too_large", "Request exceeds the maximum size"),
        "RequestError",
    ),
    Documented(
        "openai cap too large",
        400,
        openai(_TOO_MANY, "invalid_value", "max_tokens"),
        "RequestError",
    ),
    Documented(
        "anthropic too long",
        400,
        anthropic("invalid_request_error", "prompt is too long: 300000 tokens > 200000 maximum"),
        "RequestError",
    ),
    Documented(
        "openai too large",
        429,
        openai(
            "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit"
            " 10000, Requested 12000. The input or output tokens must be reduced in order to run"
            " successfully.",
            "rate_limit_exceeded",
        ),
        "RequestError",
    ),
)

_OPENAI = "https://developers.openai.com/api/docs/guides/error-codes"
_OPENAI_QUOTA = (
    "https://learn.microsoft.com/microsoft-cloud/dev/dev-proxy/concepts/openai-insufficient-quota"
)
_ANTHROPIC = "https://docs.claude.com/en/api/errors"
_ANTHROPIC_LIMITS = "https://platform.claude.com/docs/en/api/rate-limits"
_GOOGLE = "https://ai.google.dev/gemini-api/docs/generate-content/api-errors"
_RETRY_INFO = "https://cloud.google.com/apis/design/errors"
_AZURE = "https://learn.microsoft.com/azure/ai-services/openai/how-to/quota"
_AZURE_FILTER = "https://learn.microsoft.com/azure/ai-services/openai/concepts/content-filter"
_AZURE_NETWORK = "https://learn.microsoft.com/azure/ai-services/cognitive-services-virtual-networks"
_OPENROUTER = "https://openrouter.ai/docs/api-reference/errors"
_OPENROUTER_LIMITS = "https://openrouter.ai/docs/api-reference/limits"
_MISTRAL = "https://docs.mistral.ai/api/"
_VLLM = "https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html"
_OLLAMA = "https://github.com/ollama/ollama/blob/main/docs/faq.md"

PAGES = {
    "openai": _OPENAI,
    "openai credits": _OPENAI_QUOTA,
    "openai spend": _OPENAI_QUOTA,
    "openai usage limit": _OPENAI_QUOTA,
    "anthropic": _ANTHROPIC,
    "anthropic limit": _ANTHROPIC_LIMITS,
    "google": _GOOGLE,
    "google exhausted": _RETRY_INFO,
    "azure": _AZURE,
    "azure content": _AZURE_FILTER,
    "azure network": _AZURE_NETWORK,
    "openrouter": _OPENROUTER,
    "openrouter limit": _OPENROUTER_LIMITS,
    "mistral": _MISTRAL,
    "vllm": _VLLM,
    "ollama": _OLLAMA,
    "deepseek": "https://api-docs.deepseek.com/quick_start/error_codes",
    "alibaba": "https://www.alibabacloud.com/help/en/model-studio/error-code",
    "pydantic": "https://docs.pydantic.dev/latest/errors/validation_errors/",
}
"""Beginning of a name -> the public page on errors of this kind; the longest beginning counts.
Facts and forms are the vendors'; sentences without importance are our own."""
OURS = (
    "a firewall's page",
    "forbidden, no more",
    "a proxy's page",
    "a server repeats the question",
    "a server repeats the request",
)
"""Bodies of no vendor: what proxies and careless servers send."""
