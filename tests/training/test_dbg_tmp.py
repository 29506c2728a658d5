import importlib.util, random, time
spec=importlib.util.spec_from_file_location("tr","/work/main/tests/training/test_resume.py"); tr=importlib.util.module_from_spec(spec); spec.loader.exec_module(tr)
def test_x(killed, tmp_path):
    for s in (2,5,7):
        run=tmp_path/f"r{s}"
        t=time.time()
        tr.interrupted(killed, tr.behind(s, run), run, **(tr.CASES["sg-opt"]|{"recipe":"sg-opt","steps":9}))
        print(s, time.time()-t, sorted(p.name for p in run.iterdir()), tr.figures(run)[-1]["step"], tr.last_checkpoint(run))
