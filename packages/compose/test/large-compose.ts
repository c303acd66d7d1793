import type { ReadInput } from '../src/model.ts'

/**
 * A project of many services that uses many features, for benches and tests: common settings by an anchor, `extends`, an override, an included
 * file, variables, and `env_file`.
 */
export function makeLargeCompose(services = 200): ReadInput {
  const names = Array.from({ length: services }, (_, index) => `service-${index}`)
  const base = [
    'name: large',
    'x-logging: &logging { driver: json-file, options: { max-size: 10m } }',
    'include: [common.yaml]',
    'services:',
    '  base:',
    '    image: base:1',
    '    restart: unless-stopped',
    '    logging: *logging',
    '    environment: { LEVEL: "${LEVEL:-info}" }',
    ...names.flatMap((name, index) => makeService(name, index)),
    'volumes:',
    ...names.map((name) => `  data-${name}:`),
    'networks: { front: , back: }',
  ]
  const override = ['services:', ...names.flatMap((name) => [`  ${name}:`, '    labels: { team: platform }'])]
  const common = ['services:', '  database:', '    image: postgres:${POSTGRES_TAG}', '    env_file: database.env']
  const toText = (lines: string[]) => `${lines.join('\n')}\n`
  return {
    files: [
      { name: 'compose.yaml', text: toText(base) },
      { name: 'compose.override.yaml', text: toText(override) },
      { name: 'common.yaml', text: toText(common) },
    ],
    envFiles: [
      { name: '.env', text: 'TAG=1.4.2\nPOSTGRES_TAG=18\n' },
      { name: 'service.env', text: 'A=1\nB="two ${A}"\n' },
      { name: 'database.env', text: 'POSTGRES_DB=app\n' },
    ],
  }
}

const makeService = (name: string, index: number): string[] => [
  `  ${name}:`,
  '    extends: base',
  `    image: registry.example.com/team/${name}:\${TAG}`,
  '    command: serve --port "8080" --name \'a b\'',
  '    env_file: [service.env]',
  `    environment: { NAME: ${name}, NEXT: "\${UNSET_${index}:-\${TAG}}" }`,
  `    ports: ["${10_000 + index}:8080", { target: 9090, published: "${20_000 + index}" }]`,
  `    volumes: ["data-${name}:/data", { type: tmpfs, target: /tmp }]`,
  '    networks: { front: { aliases: [web] }, back: }',
  `    depends_on: [${index === 0 ? 'database' : `service-${index - 1}`}]`,
  '    healthcheck: { test: [CMD, curl, localhost], interval: 5s, retries: 3 }',
  '    deploy: { resources: { limits: { cpus: "0.5", memory: 128M } } }',
]
