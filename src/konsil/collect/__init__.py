"""GETTING answers and ratings from models: providers, limits, durable calls. All network I/O."""

from konsil.collect.providers.provider import Message, Provider, Reply, Request, request_key
from konsil.collect.running.lanes import Lane, Progress
from konsil.collect.running.runner import Runner
from konsil.collect.running.works import Work

__all__ = [
    "Lane",
    "Message",
    "Progress",
    "Provider",
    "Reply",
    "Request",
    "Runner",
    "Work",
    "request_key",
]
