import time
from pathlib import Path
import pytest
from tests.cluster import Cluster
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.client import connect
from ansible_collections.hardware.enablement.plugins.module_utils.cluster import events

def test_it(capsys):
    with Cluster.up("h4-events") as c:
        client = connect({"kubeconfig": str(c.kubeconfig)})
        occ=[events.Occurrence({"apiVersion":"v1","kind":"Node","name":f"n{i}","uid":f"u{i}"},"HardwareReady","x is ready","s") for i in range(1000)]
        t=time.time(); err=events.write(client, occ, t, "me"); a=time.time()-t
        t=time.time(); err2=events.write(client, occ, t, "me"); b=time.time()-t
        with capsys.disabled(): print("first", a, err, "again", b, err2)
        print(c.kubectl("get","events","-A","--field-selector","reportingComponent=hardware-enablement.io","--no-headers").count("\n"))
        with capsys.disabled(): print(c.kubectl("get","events","-n","default","--field-selector","reportingComponent=hardware-enablement.io").splitlines()[:3])
        with capsys.disabled(): print(c.kubectl("get","events.events.k8s.io","-n","default").splitlines()[:3])
