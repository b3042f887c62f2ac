"""torusweep completion: the shell completion script."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from torusweep.cli import torusweep


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of SHELL.

    \b
    Examples:
      torusweep completion bash > ~/.local/share/bash-completion/completions/torusweep
      torusweep completion zsh > ~/.zfunc/_torusweep
      torusweep completion fish > ~/.config/fish/completions/torusweep.fish
    """
    completer = get_completion_class(shell)
    assert completer is not None
    click.echo(completer(torusweep, {}, "torusweep", "_TORUSWEEP_COMPLETE").source())
