# SPDX-License-Identifier: MIT
#
# Packages of Debian from a private apt state in the cache: own sources, own
# lists, own archive. The machine's sources, lists and installed packages are
# neither changed nor counted on. Needs lib.sh.

# The mirror, proxy and keys are those that the machine itself uses.
apt_site() {
	local suite=$1 default=$2 site
	site=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' 2>/dev/null |
		awk -v suite="$suite" '$2 == suite { site = $1 } END { print site }')
	echo "${site:-$default}"
}

# apt_state RELEASE: the folder of the private state for bullseye, bookworm or trixie.
# One for each, because the candidates of one release must not be outbid by the
# other's. Backports are NotAutomatic: used only where -t asks for them.
apt_state() { echo "$cache/apt/$1"; }

# The lists of a release that gets no more updates stay valid.
apt_still_maintained() { [ "$1" = bullseye ] && echo false || echo true; }

apt_options() {
	local state
	state=$(apt_state "$1")
	printf '%s\n' \
		-o "Dir::Etc::sourcelist=$state/sources.list" \
		-o Dir::Etc::sourceparts=/dev/null \
		-o Dir::Etc::preferences=/dev/null \
		-o Dir::Etc::preferencesparts=/dev/null \
		-o "Dir::State=$state/state" \
		-o "Dir::State::lists=$state/lists" \
		-o "Dir::State::status=$state/status" \
		-o "Dir::Cache=$state/cache" \
		-o "Dir::Cache::archives=$state/archives" \
		-o "Dir::Log=$state/log" \
		-o APT::Update::Post-Invoke= \
		-o APT::Update::Post-Invoke-Success= \
		-o APT::Architecture=amd64 \
		-o APT::Install-Recommends=false \
		-o APT::Sandbox::User=root \
		-o Acquire::Languages=none \
		-o Acquire::Retries=3 \
		-o "Acquire::Check-Valid-Until=$(apt_still_maintained "$1")" \
		-o Debug::NoLocking=1 \
		-qq
}

apt_private() {
	local release=$1 command=$2 options
	shift 2
	mapfile -t options < <(apt_options "$release")
	"$command" "${options[@]}" "$@"
}

apt_sources() {
	local release=$1 components="main contrib non-free non-free-firmware" site security
	site=$(apt_site bookworm http://deb.debian.org/debian)
	security=$(apt_site bookworm-security http://deb.debian.org/debian-security)
	[ "$release" != bullseye ] || components=main
	local signed="[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]"
	echo "deb $signed $site $release $components"
	# Those of bullseye are gone from the mirrors.
	[ "$release" = bullseye ] || echo "deb $signed $site $release-backports $components"
	echo "deb $signed $security $release-security $components"
}

fill_apt_state() {
	local release=$1
	# apt writes the absolute paths that it was given, so work in place and
	# let the stamp, written last, say that the lists are complete.
	mkdir -p "$(apt_state "$release")"/{state,lists/partial,cache,archives/partial,log}
	: > "$(apt_state "$release")/status"
	apt_sources "$release" > "$(apt_state "$release")/sources.list"
	say "reading the package lists of $release"
	retry apt_private "$release" apt-get -o APT::Update::Error-Mode=any update >&2 || die "cannot read the package lists of $release: is there a network?"
	touch "$(apt_state "$release")/complete"
}

# Lists of another day may name what the mirror no longer has.
need_apt() {
	local stamp
	stamp=$(apt_state "$1")/complete
	[ -n "$(find "$stamp" -mtime -1 2>/dev/null)" ] || fill_apt_state "$1"
}

# apt_dependency RELEASE PACKAGE REGEX: the first dependency whose name matches.
apt_dependency() {
	apt_private "$1" apt-cache depends "$2" | awk -v wanted="^$3$" '
		!found && $1 == "Depends:" && $2 ~ wanted { found = 1; print $2 }'
}

# apt_newest RELEASE REGEX: the package with the highest version in its name
# among those whose name matches.
apt_newest() {
	need_apt "$1"
	apt_private "$1" apt-cache pkgnames | grep -xE "$2" | sort -V | tail -n 1
}

# apt_version RELEASE PACKAGE [PREFIX]: the newest version that begins with
# PREFIX, empty if there is none.
apt_version() {
	need_apt "$1"
	apt_private "$1" apt-cache madison "$2" |
		awk -F ' *[|] *' -v prefix="${3:-}" '
			!found && index($2, prefix) == 1 { found = 1; print $2 }'
}

fetch_only() { (cd "$debs" && apt_private "$release" apt-get download "$@"); }

fetch_closure() {
	apt_private "$release" apt-get -o "Dir::Cache::archives=$debs" \
		-t "$suite" install -y --download-only "$@"
}

# unpack HOW RELEASE SUITE ROOT PACKAGE...: downloads and unpacks the packages
# into the folder ROOT. HOW is "only", or "closure" for all that they depend on.
# Packages named in $skip are left out. No maintainer script runs. Lists that are older than the mirror name files
# that are gone from it, so a failure reads the lists anew once.
unpack() {
	local how=$1 release=$2 suite=$3 root=$4 debs deb link
	shift 4
	debs=$(mktemp -d "$cache/debs.XXXXXX")
	mkdir -p "$debs/partial" "$root"
	need_apt "$release"
	if ! "fetch_$how" "$@" > "$debs/log" 2>&1; then
		rm -f "$(apt_state "$release")/complete"
		need_apt "$release"
		if ! retry "fetch_$how" "$@" > "$debs/log" 2>&1; then
			cat "$debs/log" >&2
			rm -rf "$debs"
			die "cannot download $*"
		fi
	fi
	# Debian keeps /bin, /sbin and /lib as links into /usr.
	mkdir -p "$root"/usr/{bin,sbin,lib,lib64}
	for link in bin sbin lib lib64; do
		[ -e "$root/$link" ] || ln -s "usr/$link" "$root/$link"
	done
	for deb in "$debs"/*.deb; do
		! is_one_of "$(basename "${deb%%_*}")" "${skip:-}" || continue
		dpkg-deb --fsys-tarfile "$deb" |
			tar -C "$root" -x -f - --keep-directory-symlink --no-same-owner \
				--exclude=./usr/share/doc --exclude=./usr/share/man \
				--exclude=./usr/share/locale --exclude=./usr/share/info \
			|| die "cannot unpack $deb"
	done
	rm -rf "$debs"
}
