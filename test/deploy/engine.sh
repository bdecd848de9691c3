#!/usr/bin/env bash
# Makes podman and the base image of deploy/Dockerfile in a folder, from the packages of Debian and npm alone: for a machine
# that reaches no registry of images, and has no systemd. Needs Debian and root.
#
#   test/deploy/engine.sh /tmp/engine && PATH=/tmp/engine/bin:$PATH npm run test:long -- test/deploy
#
# All but two libraries is in the folder; remove it to be rid of the engine.
set -euo pipefail
at=$1
mkdir -p "$at"/{deb,programs,bin,npm,rootfs}
at=$(cd "$at" && pwd)
image=$(sed -n 's/^ARG NODE_IMAGE=//p' "$(dirname "$0")/../../deploy/Dockerfile")
node_version=$(sed 's/^node:\([0-9.]*\).*/\1/' <<<"$image")
libraries=usr/lib/$(uname -m)-linux-gnu

# Builds in a chroot do not get LD_LIBRARY_PATH, so two libraries must be in the system.
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends libsubid4 libgpgme11 >/dev/null
# runc: crun refuses a machine with both versions of cgroups.
(cd "$at/deb" && apt-get download -qq -o APT::Sandbox::User=root podman conmon runc debootstrap \
  libassuan0 libgpg-error0 libdevmapper1.02.1 libseccomp2)
for file in "$at"/deb/*.deb; do dpkg -x "$file" "$at/programs"; done

# The base image: Debian without more, Node and npm from npm's registry, and the user 1000 of the real one.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | sed -n 1p)
DEBOOTSTRAP_DIR=$at/programs/usr/share/debootstrap "$at/programs/usr/sbin/debootstrap" \
  --variant=minbase bookworm "$at/rootfs" "$mirror" >"$at/debootstrap.log"
case $(uname -m) in aarch64) architecture=arm64 ;; *) architecture=x64 ;; esac
local_prefix=$at/rootfs/usr/local
mkdir -p "$at/npm/node" "$local_prefix/lib/node_modules/npm"
(cd "$at/npm" && npm pack --silent "node-linux-$architecture@$node_version" npm@11 >/dev/null)
tar xzf "$at"/npm/node-linux-*.tgz -C "$at/npm/node" --strip-components=1
tar xzf "$at"/npm/npm-*.tgz -C "$local_prefix/lib/node_modules/npm" --strip-components=1
cp "$at/npm/node/bin/node" "$local_prefix/bin/"
for name in npm npx; do ln -s "../lib/node_modules/npm/bin/$name-cli.js" "$local_prefix/bin/$name"; done
chroot "$at/rootfs" groupadd --gid 1000 node
chroot "$at/rootfs" useradd --uid 1000 --gid node --create-home node

# `npm ci` in a build needs the certificates of this machine and its registry. runc may not raise limits.
npmrc=$(npm config get globalconfig)
[ -e "$npmrc" ] || { npmrc=$at/npmrc && : >"$npmrc"; }
cat >"$at/containers.conf" <<END
[containers]
default_ulimits = ["nofile=1024:4096", "nproc=4096:4096"]
volumes = ["/etc/ssl/certs:/etc/ssl/certs:ro", "$npmrc:/usr/local/etc/npmrc:ro"]
netns = "host"
[engine]
conmon_path = ["$at/programs/usr/bin/conmon"]
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
network_backend = "cni"
END
echo 'unqualified-search-registries = ["docker.io"]' >"$at/registries.conf"
echo '{ "default": [{ "type": "insecureAcceptAnything" }] }' >"$at/policy.json"
# DISABLE_HC_SYSTEMD: health checks have no timer without systemd. BUILDAH_FORMAT: images of OCI's own form have no HEALTHCHECK.
cat >"$at/bin/podman" <<END
#!/bin/sh
export CONTAINERS_CONF=$at/containers.conf CONTAINERS_REGISTRIES_CONF=$at/registries.conf
export LD_LIBRARY_PATH=$at/programs/$libraries:$at/programs/${libraries#usr/}
export DISABLE_HC_SYSTEMD=true BUILDAH_ISOLATION=chroot BUILDAH_FORMAT=docker
command=\$1
shift
case \$command in build | import) set -- --signature-policy $at/policy.json "\$@" ;; esac
exec $at/programs/usr/bin/podman --root $at/store --runroot $at/run --storage-driver overlay \\
  --runtime $at/programs/usr/sbin/runc "\$command" "\$@"
END
chmod +x "$at/bin/podman"
rm -f "$at"/rootfs/var/cache/apt/archives/*.deb
tar cf - -C "$at/rootfs" . |
  "$at/bin/podman" import --quiet --change 'ENV PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' - "docker.io/library/$image"
rm -r "$at/deb" "$at/rootfs" "$at/npm"
