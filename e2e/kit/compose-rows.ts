/** Fields of a container as the engine and `describeContainer` show them; those that a row leaves out are not compared. */
type ComposeRow = Record<string, unknown>

const memory = (mebibytes: number) => `memory of ${mebibytes} MiB`
const second = 1_000_000_000
const mebibyte = 1_024 ** 2

/** What the compose files of the corpus (packages/compose/test/corpus) ask for: case -> service -> the container that Docker must show. */
export const composeRows: Record<string, Record<string, ComposeRow>> = {
  // The test compares the image of every container.
  '02-image-references': {
    tagged: {},
    untagged: {},
    organisation: {},
    'with-port': {},
    digest: {},
    'tag-and-digest': {},
    'hub-alias': {},
  },
  '05-ports-short': {
    web: {
      ports: {
        '80/tcp': ':8080',
        '443/tcp': '127.0.0.1:8443',
        '9443/tcp': '::1:9443',
        '53/udp': '0.0.0.0:53',
        '6060/tcp': ':6060',
        '514/udp': ':514',
      },
    },
  },
  '06-ports-ranges': {
    ftp: {
      ports: {
        ...Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`${30000 + at}/tcp`, `:${30000 + at}`])),
        ...Object.fromEntries([0, 1, 2].map((at) => [`${8000 + at}/tcp`, `:${7000 + at}`])),
        ...Object.fromEntries([0, 1, 2, 3].map((at) => [`${4000 + at}/udp`, `:${4000 + at}`])),
        ...Object.fromEntries([0, 1, 2].map((at) => [`${6000 + at}/tcp`, `127.0.0.1:${5000 + at}`])),
        '21/tcp': ':2100',
      },
    },
  },
  '08-ports-unpublished': {
    app: {
      ports: {},
      exposed: [
        ...['3000/tcp', '4000/tcp', '5000/tcp', '5001/tcp', '5002/tcp', '53/udp', '6000/tcp', '7000/tcp', '8000/tcp'],
        ...['8001/tcp', '8100/tcp', '8101/tcp', '8102/tcp'],
      ],
    },
  },
  '11-volumes-named': {
    db: {
      mounts: {
        '/var/lib/postgresql/data': 'data',
        '/etc/postgresql': 'config, read-only',
        '/var/log/postgresql': 'logs',
        '/cache': 'cache',
      },
    },
  },
  '14-volumes-long': {
    app: {
      mounts: {
        '/data': 'data, read-only',
        '/uploads': 'data-files-uploads',
        '/scratch': memory(64),
        '/anonymous': 'anonymous',
      },
    },
  },
  '16-volumes-tmpfs': {
    one: { mounts: { '/run': memory(64) } },
    several: { mounts: { '/run': memory(64), '/tmp': memory(1_024), '/var/run': memory(64) } },
    long: { mounts: { '/run': memory(128) } },
  },
  '21-environment-map': {
    app: {
      environment: {
        TEXT: 'plain',
        NUMBER: '8080',
        FLOAT: '1.5',
        BOOLEAN: 'true',
        EMPTY: '',
        QUOTED: 'single "and" double',
        LINES: 'first\nsecond\n',
      },
    },
  },
  '22-environment-list': {
    app: { environment: { LOG_LEVEL: 'info', URL: 'postgres://db/app?sslmode=disable&x=1', EMPTY: '' } },
  },
  '24-labels': {
    list: { Config: { Labels: { 'com.example.team': 'shop', 'com.example.empty': '', 'traefik.enable': 'true' } } },
    map: { Config: { Labels: { 'com.example.number': '3', 'com.example.null': '' } } },
  },
  '27-command-string': {
    plain: { Config: { Entrypoint: ['/bin/serve'], Cmd: ['redis-server', '--appendonly', 'yes'] } },
    quotes: { Config: { Cmd: ['sh', '-c', 'echo "$HOME" && sleep 1', 'single quoted', 'a b'] } },
    operators: { Config: { Cmd: ['echo', 'a', '&&', 'echo', 'b'] } },
    folded: { Config: { Cmd: ['gunicorn', '--bind', '0.0.0.0:8000', 'app:app'] } },
  },
  '28-command-list': {
    list: { Config: { Entrypoint: ['/entrypoint.sh', '--verbose'], Cmd: ['serve', '--port', '80'] } },
    script: { Config: { Entrypoint: ['/bin/serve'], Cmd: ['sh', '-c', 'echo one\necho two'] } },
  },
  '31-depends-on-conditions': {
    db: {
      State: { Health: { Status: 'healthy' } },
      Config: { Healthcheck: { Test: ['CMD-SHELL', 'pg_isready -U postgres'], Interval: 5 * second } },
    },
    migrations: { State: { Status: 'exited', ExitCode: 0 }, startedAfter: { db: true } },
    cache: {},
    web: { startedAfter: { db: true, migrations: true } },
  },
  // The test shortens the intervals, which the case before compares.
  '36-healthcheck-forms': {
    text: {
      State: { Health: { Status: 'healthy' } },
      Config: {
        Healthcheck: {
          Test: ['CMD-SHELL', 'curl -f http://localhost/ || exit 1'],
          Timeout: 10 * second,
          StartPeriod: 40 * second,
          Retries: 3,
        },
      },
    },
    shell: { Config: { Healthcheck: { Test: ['CMD-SHELL', 'test -f /ready'] } } },
    program: { Config: { Healthcheck: { Test: ['CMD', 'pg_isready', '-U', 'postgres'], Retries: 5 } } },
    none: { Config: { Healthcheck: { Test: ['NONE'] } } },
    disabled: { Config: { Healthcheck: { Test: ['NONE'] } } },
    'times-only': {},
  },
  '38-resources-deploy': {
    app: {
      HostConfig: {
        NanoCpus: 500_000_000,
        Memory: 512 * mebibyte,
        CpuShares: 256,
        MemoryReservation: 64 * mebibyte,
      },
    },
  },
  '42-restart-policies': {
    never: { HostConfig: { RestartPolicy: { Name: 'no' } } },
    always: { HostConfig: { RestartPolicy: { Name: 'always' } } },
    failure: { HostConfig: { RestartPolicy: { Name: 'on-failure' } } },
    unless: { HostConfig: { RestartPolicy: { Name: 'unless-stopped' } } },
    deploy: { HostConfig: { RestartPolicy: { Name: 'on-failure' } } },
  },
  // The network of the deployment, and one for each name.
  '44-networks-simple': {
    web: { networkCount: 3, sharedNetworks: { db: 2 } },
    db: { networkCount: 2 },
  },
  '49-users': {
    number: { Config: { User: '1000' } },
    group: { Config: { User: '1000' } },
    root: { Config: { User: '0' } },
    name: { Config: { User: '' } },
  },
  '50-process': {
    app: { Config: { WorkingDir: '/srv/app', Tty: true, StopSignal: 'SIGTERM', StopTimeout: 90 } },
    other: { Config: { Tty: false, StopSignal: 'SIGRTMIN+3', StopTimeout: 1 } },
  },
  '52-extra-hosts': {
    list: {
      hosts: {
        somehost: '162.242.195.82',
        otherhost: '50.31.209.229',
        myhostv6: '::1',
        v6: 'fd00::1',
        node: 'host-gateway',
      },
    },
    map: { hosts: { 'db.internal': '10.0.0.5', many: '10.0.0.6' } },
  },
  '53-limits-of-processes': {
    app: {
      ulimits: { nproc: { soft: 65_535, hard: 65_535 }, nofile: { soft: 2_000, hard: 4_000 } },
      HostConfig: { ShmSize: 256 * mebibyte },
    },
    bytes: { HostConfig: { ShmSize: 2_000_000 } },
  },
  '65-one-shot-job': {
    migrate: {
      State: { Status: 'exited', ExitCode: 0 },
      Config: { Cmd: ['./manage.py', 'migrate'] },
      HostConfig: { RestartPolicy: { Name: 'no' } },
    },
    web: { startedAfter: { migrate: true }, ports: { '8000/tcp': ':8000' } },
  },
  '69-env-files': {
    db: { environment: { POSTGRES_DB: 'own', POSTGRES_USER: 'app user' } },
    app: { environment: { POSTGRES_DB: 'from-file', POSTGRES_USER: 'later', URL: 'postgres://$literal' } },
  },
}
