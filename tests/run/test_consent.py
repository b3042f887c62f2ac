"""Who may say that a scheduler is trusted, and what a configuration may ask of Slurm: it may come from anybody."""

from __future__ import annotations

from pathlib import Path

import pytest
from torusweep.errors import BadInput
from torusweep.run import command, consent
from torusweep.run.consent import Trusted, trusted
from torusweep.sweeps.configuration.schema import Slurm

TLS = "tls://head:8786"


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own file, which is not there yet; nothing else is trusted."""
    monkeypatch.delenv(consent.VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "config/torusweep/schedulers"
    path.parent.mkdir(parents=True)
    return path


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:8786", "tcp://10.0.0.1:8786", TLS])
def test_a_scheduler_that_only_a_configuration_names_is_refused_in_one_line(own: Path, address: str):
    (own.parents[2] / "my.yaml").write_text(
        f"sweep: s\ntopologies: ['ring(k=4)']\ncluster: {{scheduler: '{address}'}}\n"
    )
    with pytest.raises(BadInput) as refusal:
        command.run(Path("my.yaml"), Path("results"), overrides={}, options=())
    said = str(refusal.value)
    for words in (f"got {address};", f"--trust-scheduler {address}", consent.VARIABLE, str(own)):
        assert words in said
    assert "\n" not in said
    assert not Path("results").exists(), "nothing is begun"


@pytest.mark.parametrize(
    ("variable", "file", "found"),
    [
        ("tcp://head:8786", "", None),
        (f"{TLS},ca.pem,cert.pem,/k/key.pem", "", ("ca.pem", "cert.pem", "/k/key.pem")),
        ("", f"# mine\n\ntcp://other:1\n{TLS}, ca.pem, cert.pem, key.pem\n", ("config/torusweep/ca.pem",)),
        ("tcp://other:1", f"{TLS}/,ca.pem,cert.pem,key.pem", ("config/torusweep/ca.pem",)),
    ],
)
def test_the_user_trusts_an_address(
    own: Path, monkeypatch: pytest.MonkeyPatch, variable: str, file: str, found: tuple[str, ...] | None
):
    monkeypatch.setenv(consent.VARIABLE, variable)
    own.write_text(file)
    if found is None:
        assert trusted("tcp://head:8786") == Trusted("tcp://head:8786")
        with pytest.raises(BadInput, match="got tcp://head:87;"):
            trusted("tcp://head:87")
    else:
        here = own.parents[2]
        assert trusted(TLS).files[: len(found)] == tuple(str(here / name) for name in found)


@pytest.mark.parametrize("entry", [TLS, f"{TLS},ca.pem", "head:8786", f"{TLS},a,b,c,d", "yes"])
def test_an_entry_that_says_too_little_is_refused(monkeypatch: pytest.MonkeyPatch, entry: str):
    monkeypatch.setenv(consent.VARIABLE, entry)
    with pytest.raises(BadInput, match=r"expected tcp://HOST:PORT, or tls://HOST:PORT,CA,CERT,KEY"):
        trusted(TLS)


ASKS = """--constraint=epyc|--qos=long|--time 1:00:00|--mem=4G|-C epyc|-pbatch|--gres=gpu:a100:2|--exclusive
--exclusive=user|--nice|--nice=100|--reservation=x|-A me""".replace("\n", "|").split("|")
DOES = """--export=ALL,BASH_ENV=/shared/x.sh|--export ALL|--exp=ALL|--wrap=id|--prolog=/x|--bcast=/x|--chdir=/x|-D /x
--output=/x|-o /x|--error=/x|--get-user-env|--mail-user=a@b|--propagate|--clusters=x|--constraint=a --export=ALL
-C a -D /x|-sD/x|--time --wrap=x|--exclusive /x|export=ALL|-|--|--uid=0|--job-name=x|-J x|--array=1-9|--dependency=x
--container=/x|--burst-buffer=x|--bbf=/x|--gpu-bind=x|--requeue=a b|--comment=x|--input=/x|--licenses=-x|-C -D/x"""


@pytest.mark.parametrize("directive", ASKS)
def test_directives_that_ask_for_resources_are_taken(directive: str):
    assert Slurm.model_validate({"directives": [directive]}).directives == (directive,)


@pytest.mark.parametrize("directive", [*DOES.replace("\n", "|").split("|"), "--qos=a\n#SBATCH --wrap=x", "--qos=a\n"])
def test_directives_that_set_the_environment_or_run_something_are_refused(directive: str):
    with pytest.raises(ValueError, match=r"options of sbatch that ask for resources.* SBATCH_EXPORT"):
        Slurm.model_validate({"directives": [directive]})


@pytest.mark.parametrize(
    ("key", "value"), [("queue", "-D/x"), ("account", "--wrap=x"), ("interface", "-x"), ("queue", "a --export=ALL")]
)
def test_a_word_of_a_job_script_is_no_option(key: str, value: str):
    with pytest.raises(ValueError, match="pattern"):
        Slurm.model_validate({key: value})
