# appgroupd: what there is to do. `make help` lists it.

# What may be set: on the command line (make PREFIX=/usr install) or in the environment.
PREFIX ?= /usr/local
SYSCONFDIR ?= /etc
DESTDIR ?=
SCRATCH ?= .build
SWIFT ?= swift
SWIFTFLAGS ?=
TESTFLAGS ?=
BENCH_PEERS ?= $(firstword $(wildcard ../bench-peers ../*/bench-peers))
BENCHFLAGS ?=
GROWTH_OUT ?= Sources/appgroup-bench/results
GROWTHFLAGS ?=
DEB_OUT ?= $(SCRATCH)/deb
FUZZ_SECONDS ?= 60
FUZZ_TARGETS ?=
TORTURE_KILLS ?= 2000
TORTURE_STATES ?= 2000
TORTURE_RESTARTS ?= 50
TORTURE_FUZZ_SECONDS ?= 60
TORTURE_SANITIZERS ?= address thread undefined
TORTURE_SANITIZER_SECONDS ?= 60
TORTURE_SANITIZER_KILLS ?= 30
TORTURE_SEED ?=
TORTURE_REPORT ?= $(SCRATCH)/torture-report.md

# The exposure of the service as systemd-analyze counts it, in tenths; user units cannot get far below without a user
# namespace, which would blind the daemon. It is to grow no more.
SECURITY_THRESHOLD := 62

SHELL := /bin/sh
.SHELLFLAGS := -eu -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# The programs carry Swift's own libraries, so that nothing but what Debian ships is needed to run them.
# The linker that comes with Swift packs the relocations, half a megabyte of memory (glibc 2.36 or later reads that), and
# exports no symbol that nobody looks up.
LINKFLAGS ?= -Xswiftc -use-ld=lld -Xlinker -z -Xlinker pack-relative-relocs -Xlinker --no-export-dynamic $(STATIC_CXX)
# Swift's runtime needs little of the C++ library; its own copy of that little is most of a megabyte less in memory than all
# of the shared one. The linker takes what it finds first, so it gets a directory that has only the archive.
CXX_ARCHIVE := $(filter /%,$(shell clang -print-file-name=libstdc++.a 2>/dev/null || cc -print-file-name=libstdc++.a 2>/dev/null))
STATIC_CXX = $(if $(CXX_ARCHIVE),$(shell mkdir -p '$(SCRATCH)/c++' && ln -sfn '$(CXX_ARCHIVE)' '$(SCRATCH)/c++/libstdc++.a')-Xswiftc -L$(abspath $(SCRATCH))/c++ -Xlinker --as-needed -Xswiftc -Xclang-linker -Xswiftc -static-libgcc)
RELEASE = $(SWIFT) build --scratch-path $(SCRATCH) -c release --static-swift-stdlib $(LINKFLAGS) $(SWIFTFLAGS)
DEBUG_OPTIONS := --scratch-path $(SCRATCH) $(SWIFTFLAGS)
DAEMON := $(SCRATCH)/release/appgroupd
TOOL := $(SCRATCH)/release/appgroupctl
SOURCES := Sources Tests Package.swift
INTERFACE := Sources/GroupProtocol/io.appgroupd.Settings.varlink
VERSION := $(shell sed -n 's/.*string = "\(.*\)"/\1/p' Sources/GroupProtocol/Version.swift)
# What journalctl -x explains comes from a database; a package's installation has its own way to make it anew.
UPDATE_CATALOG = if [ -z '$(DESTDIR)' ] && [ -w /var/lib/systemd/catalog ]; then journalctl --update-catalog; fi

BINDIR := $(DESTDIR)$(PREFIX)/bin
LIBEXECDIR := $(DESTDIR)$(PREFIX)/libexec
UNITDIR := $(DESTDIR)$(PREFIX)/lib/systemd/user
CATALOGDIR := $(DESTDIR)$(PREFIX)/lib/systemd/catalog
SHAREDIR := $(DESTDIR)$(PREFIX)/share/appgroupd
PKGCONFIGDIR := $(DESTDIR)$(PREFIX)/share/pkgconfig
MANDIR := $(DESTDIR)$(PREFIX)/share/man
# Where each shell looks for the completions of a program.
BASHDIR := $(DESTDIR)$(PREFIX)/share/bash-completion/completions
ZSHDIR := $(DESTDIR)$(PREFIX)/share/zsh/site-functions
FISHDIR := $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
BASH_COMPLETION := $(BASHDIR)/appgroupctl
ZSH_COMPLETION := $(ZSHDIR)/_appgroupctl
FISH_COMPLETION := $(FISHDIR)/appgroupctl.fish
CONFIGDIR := $(DESTDIR)$(SYSCONFDIR)/appgroupd
CONFIG := $(CONFIGDIR)/appgroupd.conf

.PHONY: help deps deps-build build run test guard bench bench-growth docs fuzz torture lint format verify-units install \
    uninstall deb clean

help:  ## Print this
	@echo 'usage: make TARGET [VARIABLE=value ...]'
	@echo
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' Makefile | while IFS='	' read -r target text; do \
	    printf '  %-14s %s\n' "$$target" "$$text"; done
	@echo
	@echo '  PREFIX         where install puts the programs and units ($(PREFIX))'
	@echo '  SYSCONFDIR     where the administrator'\''s configuration is ($(SYSCONFDIR))'
	@echo '  DESTDIR        a directory to install into as if it were / ($(if $(DESTDIR),$(DESTDIR),none))'
	@echo '  SCRATCH        where the build keeps its files ($(SCRATCH))'
	@echo '  SWIFT          the Swift command ($(SWIFT))'
	@echo '  SWIFTFLAGS     more options for swift build and swift test ($(if $(SWIFTFLAGS),$(SWIFTFLAGS),none))'
	@echo '  TESTFLAGS      more options for swift test, e.g. "--filter GroupCoreTests" ($(if $(TESTFLAGS),$(TESTFLAGS),none))'
	@echo '  BENCH_PEERS    the folder of the harness that bench runs ($(if $(BENCH_PEERS),$(BENCH_PEERS),none found))'
	@echo '  DEB_OUT        where deb puts the package ($(DEB_OUT))'
	@echo '  GROWTH_OUT     where bench-growth puts its results ($(GROWTH_OUT))'
	@echo '  GROWTHFLAGS    more options for it, e.g. "--limit 10000" ($(if $(GROWTHFLAGS),$(GROWTHFLAGS),none))'
	@echo '  FUZZ_SECONDS   how long fuzz tries each target ($(FUZZ_SECONDS))'
	@echo '  TORTURE_KILLS  how often torture kills the daemon at random ($(TORTURE_KILLS))'
	@echo '  TORTURE_STATES how many states that a power cut may leave it tries, of each recording ($(TORTURE_STATES))'
	@echo '  TORTURE_RESTARTS  how often it restarts the service under 200 observers; as root ($(TORTURE_RESTARTS))'
	@echo '  TORTURE_FUZZ_SECONDS  how long it fuzzes each target, or 0 ($(TORTURE_FUZZ_SECONDS))'
	@echo '  TORTURE_SANITIZERS    which sanitizers it builds daemons with ($(TORTURE_SANITIZERS))'
	@echo '  TORTURE_SANITIZER_SECONDS  how long the library has its load under each ($(TORTURE_SANITIZER_SECONDS))'
	@echo '  TORTURE_SANITIZER_KILLS  how often the daemon is killed under it ($(TORTURE_SANITIZER_KILLS))'
	@echo '  TORTURE_SEED   what its chance begins with ($(if $(TORTURE_SEED),$(TORTURE_SEED),another one each time))'
	@echo '  TORTURE_REPORT where its report goes ($(TORTURE_REPORT))'
	@echo '  FUZZ_TARGETS   what fuzz tries ($(if $(FUZZ_TARGETS),$(FUZZ_TARGETS),all: the folders of Tests/Fixtures/fuzz))'
	@echo '  BENCHFLAGS     more options for it, e.g. "--quick --wait-quiet 600" ($(if $(BENCHFLAGS),$(BENCHFLAGS),none))'

deps:  ## Check the Swift toolchain; install what building and testing need (sudo apt-get) if it is missing
	@SWIFT='$(SWIFT)' .ci/deps test

deps-build:
	@SWIFT='$(SWIFT)' .ci/deps build

build: deps-build  ## Build the daemon and the tool, optimised
	$(RELEASE) --product appgroupd
	$(RELEASE) --product appgroupctl

run: build  ## Show it: a private daemon, two observers, a setting changed in three ways; until Ctrl-C
	@APPGROUPD='$(abspath $(DAEMON))' APPGROUPCTL='$(abspath $(TOOL))' Sources/Examples/live-demo/run.sh

test: deps  ## Build for debugging and run every test, then lint, docs, verify-units, guard, and fuzz for some seconds
	$(SWIFT) build $(DEBUG_OPTIONS) --build-tests
	$(SWIFT) test $(DEBUG_OPTIONS) --skip-build --disable-xctest $(TESTFLAGS)
	@$(MAKE) --no-print-directory lint docs verify-units guard fuzz FUZZ_SECONDS=3

# Optimised, since a debug build's counts say nothing; the tests themselves are those of the debug build.
guard: deps  ## Count the instructions of the hot paths (valgrind) and hold them against the limits in GuardTests
	$(RELEASE) --product appgroupd
	$(RELEASE) --product appgroup-bench
	$(SWIFT) build $(DEBUG_OPTIONS) --build-tests
	APPGROUP_GUARD='$(abspath $(SCRATCH))/release' $(SWIFT) test $(DEBUG_OPTIONS) --skip-build --disable-xctest \
	    --filter GuardTests

# The descriptors name the programs of the default scratch folder: the copies name those of this one.
bench: build  ## Measure the daemon: beside floor and peers if BENCH_PEERS has the harness, else beside a floor
	$(RELEASE) --product appgroup-bench
	@out='$(abspath $(SCRATCH))/bench'; mkdir -p "$$out"; \
	if [ -x '$(BENCH_PEERS)/run.sh' ]; then \
	    cp Sources/appgroup-bench/peer/* "$$out"; \
	    sed -i 's|{here}/../../../.build/release|$(abspath $(SCRATCH))/release|' "$$out"/appgroupd*.json; \
	    '$(BENCH_PEERS)/run.sh' --peer "$$out/appgroupd.json" --peer "$$out/appgroupd-library.json" \
	        --out "$$out/result" $(BENCHFLAGS); \
	else \
	    $(SCRATCH)/release/appgroup-bench suite --daemon $(DAEMON) --json "$$out/result.json" $(BENCHFLAGS); \
	fi; \
	echo "the figures are in $$out"

# Not part of bench: a million keys and ten thousand groups take some minutes.
bench-growth: build  ## Measure how costs grow with keys, groups, observers, values and history; curves and a plot
	$(RELEASE) --product appgroup-bench
	$(SCRATCH)/release/appgroup-bench growth --daemon $(DAEMON) --out '$(GROWTH_OUT)' $(GROWTHFLAGS)
	@echo 'the curves are in $(GROWTH_OUT)'

fuzz: deps-build  ## Fuzz what reads outside input, FUZZ_SECONDS for each of FUZZ_TARGETS
	@SWIFT='$(SWIFT)' SCRATCH='$(SCRATCH)' .ci/fuzz $(FUZZ_SECONDS) $(FUZZ_TARGETS)

torture: deps  ## Kills, power cuts, growth, sanitizers and fuzzing against the real daemon, for an hour or so; a report
	$(SWIFT) build $(DEBUG_OPTIONS) --build-tests
	@SWIFT='$(SWIFT)' SCRATCH='$(SCRATCH)' TORTURE_KILLS='$(TORTURE_KILLS)' TORTURE_STATES='$(TORTURE_STATES)' \
	    TORTURE_RESTARTS='$(TORTURE_RESTARTS)' \
	    TORTURE_FUZZ_SECONDS='$(TORTURE_FUZZ_SECONDS)' TORTURE_SANITIZERS='$(TORTURE_SANITIZERS)' \
	    TORTURE_SANITIZER_SECONDS='$(TORTURE_SANITIZER_SECONDS)' TORTURE_SANITIZER_KILLS='$(TORTURE_SANITIZER_KILLS)' \
	    APPGROUP_TEST_SEED='$(TORTURE_SEED)' .ci/torture '$(TORTURE_REPORT)'

docs: deps-build  ## Build the library's documentation (DocC), every warning an error
	$(SWIFT) build $(DEBUG_OPTIONS) --target AppGroup
	SWIFT='$(SWIFT)' .ci/docs '$(SCRATCH)'

lint:  ## Check format and style of the Swift sources
	$(SWIFT) format lint --strict --parallel --recursive $(SOURCES)

format:  ## Format the Swift sources in place
	$(SWIFT) format --in-place --parallel --recursive $(SOURCES)

# systemd-analyze ends with 0 on what it does not know, so that any word of it is a failure. It wants the program of
# ExecStart= to be there and a runtime directory; the manual pages are not installed yet.
verify-units:  ## Check the units with systemd-analyze: that they are sound, and how exposed the service is
	@stage=$$(mktemp -d); trap 'rm -rf "$$stage"' EXIT; \
	for unit in systemd/*.socket systemd/*.service; do \
	    sed 's|/usr/libexec/appgroupd|/bin/true|; s|/usr/bin/appgroupctl|/bin/true|' "$$unit" >"$$stage/$${unit##*/}"; done; \
	mkdir -m 0700 "$$stage/runtime"; \
	echo 'systemd-analyze --user verify systemd/*.socket systemd/*.service'; \
	XDG_RUNTIME_DIR="$$stage/runtime" systemd-analyze --user verify --man=no "$$stage"/*.socket "$$stage"/*.service \
	    2>"$$stage/messages" || { cat "$$stage/messages" >&2; exit 1; }; \
	if [ -s "$$stage/messages" ]; then cat "$$stage/messages" >&2; exit 1; fi; \
	echo 'systemd-analyze --user security --offline=yes --threshold=$(SECURITY_THRESHOLD) systemd/appgroupd.service'; \
	XDG_RUNTIME_DIR="$$stage/runtime" systemd-analyze --user security --offline=yes \
	    --threshold=$(SECURITY_THRESHOLD) "$$stage/appgroupd.service" >"$$stage/messages" 2>&1 || \
	    { cat "$$stage/messages" >&2; exit 1; }; tail -n 1 "$$stage/messages"

# Built when it is not there yet; what is there is installed as it is, so that `sudo make install` compiles nothing.
$(DAEMON) $(TOOL):
	@$(MAKE) --no-print-directory build

# The configuration belongs to the administrator: it is replaced only while it is still what the last install put there,
# which the pristine copy in SHAREDIR tells.
install: $(DAEMON) $(TOOL)  ## Install under DESTDIR and PREFIX
	install -D -m 0755 $(DAEMON) '$(LIBEXECDIR)/appgroupd'
	install -D -m 0755 $(TOOL) '$(BINDIR)/appgroupctl'
	install -d -m 0755 '$(UNITDIR)' '$(SHAREDIR)' '$(CONFIGDIR)'
	@for unit in systemd/*.socket systemd/*.service; do \
	    echo "$$unit -> $(UNITDIR)"; \
	    sed 's|/usr/libexec/|$(PREFIX)/libexec/|; s|/usr/bin/appgroupctl|$(PREFIX)/bin/appgroupctl|' "$$unit" >'$(UNITDIR)'/"$${unit##*/}"; \
	    chmod 0644 '$(UNITDIR)'/"$${unit##*/}"; done
	@if [ ! -e '$(CONFIG)' ] || cmp -s '$(CONFIG)' '$(SHAREDIR)/appgroupd.conf'; then \
	    echo '$(CONFIG)'; install -m 0644 etc/appgroupd/appgroupd.conf '$(CONFIG)'; \
	elif ! cmp -s '$(CONFIG)' etc/appgroupd/appgroupd.conf; then \
	    echo '$(CONFIG) was changed and is kept; the defaults are in $(SHAREDIR)/appgroupd.conf'; fi
	install -m 0644 etc/appgroupd/appgroupd.conf '$(SHAREDIR)/appgroupd.conf'
	install -m 0644 $(INTERFACE) '$(SHAREDIR)/$(notdir $(INTERFACE))'
	install -D -m 0644 systemd/appgroupd.catalog '$(CATALOGDIR)/appgroupd.catalog'
	install -d -m 0755 '$(PKGCONFIGDIR)'
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' etc/packaging/appgroupd.pc.in \
	    >'$(PKGCONFIGDIR)/appgroupd.pc'
	@chmod 0644 '$(PKGCONFIGDIR)/appgroupd.pc'
	install -d -m 0755 '$(MANDIR)/man1' '$(MANDIR)/man5' '$(MANDIR)/man7' '$(MANDIR)/man8' \
	    '$(BASHDIR)' '$(ZSHDIR)' '$(FISHDIR)'
	$(TOOL) manual >'$(MANDIR)/man1/appgroupctl.1'
	$(DAEMON) --manual appgroupd.conf >'$(MANDIR)/man5/appgroupd.conf.5'
	$(DAEMON) --manual appgroupd >'$(MANDIR)/man8/appgroupd.8'
	install -m 0644 etc/man/appgroup.7 '$(MANDIR)/man7/appgroup.7'
	$(TOOL) completions bash >'$(BASH_COMPLETION)'
	$(TOOL) completions zsh >'$(ZSH_COMPLETION)'
	$(TOOL) completions fish >'$(FISH_COMPLETION)'
	@chmod 0644 '$(MANDIR)/man1/appgroupctl.1' '$(MANDIR)/man5/appgroupd.conf.5' '$(MANDIR)/man8/appgroupd.8' \
	    '$(BASH_COMPLETION)' '$(ZSH_COMPLETION)' '$(FISH_COMPLETION)'
	@$(UPDATE_CATALOG)
	@echo 'installed; to start it for yourself: systemctl --user daemon-reload && systemctl --user enable --now appgroupd.socket'

uninstall:  ## Remove what install put there; settings and a changed configuration stay
	@if [ -e '$(CONFIG)' ] && ! cmp -s '$(CONFIG)' '$(SHAREDIR)/appgroupd.conf'; then \
	    echo '$(CONFIG) was changed and stays'; else rm -f '$(CONFIG)'; fi
	rm -f '$(LIBEXECDIR)/appgroupd' '$(BINDIR)/appgroupctl'
	rm -f $(foreach unit,$(notdir $(wildcard systemd/*.socket systemd/*.service)),'$(UNITDIR)/$(unit)')
	rm -f '$(SHAREDIR)/appgroupd.conf' '$(MANDIR)/man1/appgroupctl.1' '$(MANDIR)/man5/appgroupd.conf.5' \
	    '$(MANDIR)/man7/appgroup.7' '$(MANDIR)/man8/appgroupd.8'
	rm -f '$(SHAREDIR)/$(notdir $(INTERFACE))' '$(CATALOGDIR)/appgroupd.catalog' '$(PKGCONFIGDIR)/appgroupd.pc'
	rm -f '$(BASH_COMPLETION)' '$(ZSH_COMPLETION)' '$(FISH_COMPLETION)'
	@$(UPDATE_CATALOG)
	@rmdir '$(SHAREDIR)' '$(CONFIGDIR)' 2>/dev/null || true

# The programs are built first: Debian has no Swift toolchain that a package could be built with.
deb: $(DAEMON) $(TOOL)  ## Build a Debian package with Debian's own tools, into DEB_OUT
	@out='$(abspath $(DEB_OUT))'; stage='$(abspath $(SCRATCH))/deb/appgroupd-$(VERSION)'; \
	rm -rf "$$stage"; mkdir -p "$$stage" "$$out"; \
	cp -R Makefile README.md LICENSE etc systemd "$$stage"; \
	mkdir -p "$$stage/$(dir $(INTERFACE))"; cp $(INTERFACE) Sources/GroupProtocol/Version.swift "$$stage/$(dir $(INTERFACE))"; \
	cp -R etc/packaging/debian "$$stage/debian"; \
	cd "$$stage" && DAEMON='$(abspath $(DAEMON))' TOOL='$(abspath $(TOOL))' \
	    dpkg-buildpackage --build=binary --no-sign --no-check-builddeps --root-command=fakeroot; \
	mv "$$stage"/../*.deb "$$out"; ls "$$out"/*.deb

clean:  ## Remove what the build made
	rm -rf '$(SCRATCH)'
