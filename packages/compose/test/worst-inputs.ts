import type { ReadInput } from '../src/model.ts'

// Inputs that are as expensive as they can be. Tests count what becomes of them, and the bench measures their processor time.

const mebibyte = 1024 * 1024

/** A text repeated up to 1 MiB, after a beginning. */
const fill = (piece: string, start = '', end = ''): string =>
  start + piece.repeat(Math.floor((mebibyte - start.length - end.length) / piece.length)) + end

/** Lines made from their number, as many as fit into 1 MiB. */
function fillLines(makeLine: (index: number) => string, start = ''): string {
  const lines = [start]
  let length = start.length
  for (let index = 0; ; index += 1) {
    const line = makeLine(index)
    length += line.length + 1
    if (length > mebibyte) return lines.join('\n')
    lines.push(line)
  }
}

const count = (length: number) => Array.from({ length }, (_, index) => index)
const makeLines = (length: number, makeLine: (index: number) => string) => count(length).map(makeLine).join('\n')

const one = (text: string): ReadInput => ({ files: [{ name: 'compose.yaml', text }], envFiles: [] })
const withEnv = (text: string, env: string): ReadInput => ({
  files: [{ name: 'compose.yaml', text }],
  envFiles: [{ name: '.env', text: env }],
})
const extendBase = (services: number, lines: string) =>
  one(`services:\n  base:\n    image: a\n${lines}\n${makeLines(services, (index) => `  s${index}: {extends: base}`)}`)
const useEnv = (services: number) =>
  `services:\n${makeLines(services, (index) => `  s${index}: {image: a, env_file: .env}`)}`
const web = 'services: {web: {image: a}}'
const service = (lines: string) => one(`services:\n  web:\n    image: a\n${lines}`)

/** YAML whose lexing, parsing or composing is expensive. */
const yaml: Record<string, () => ReadInput> = {
  'a line of 1 MiB': () => one(fill('a', 'services: ')),
  'a quoted line of 1 MiB': () => one(fill('\\n', 'services: "', '"')),
  'a quoted line without end': () => one(fill('a ', 'services: "')),
  'empty items': () => one(fill('-\n')),
  'items of items': () => one(fill('- ')),
  'keys with question marks': () => one(fill('? \n')),
  colons: () => one(fill(':\n')),
  'folded text': () => one(fill(' a\n', 'x: >\n')),
  'folded text with blank lines': () => one(fill(' a\n\n', 'x: >\n')),
  'plain text of many lines': () => one(fill(' a\n', 'x:\n')),
  'quoted text of many lines': () => one(fill(' a\n', 'x: "\n', '"')),
  'a flow sequence': () => one(fill('a,', 'x: [', ']')),
  'a flow sequence of commas': () => one(fill(',', 'x: [', ']')),
  'a flow mapping': () => one(fill('a: b,', 'x: {', '}')),
  'flow sequences on many lines': () => one(fill('[a],\n', 'x: [', ']')),
  'comments before the document': () => one(fill('#\n')),
  'comments in the document': () => one(fill('#\n', 'x: a\n', 'y: b\n')),
  'comments in a flow sequence': () => one(fill('#\n', 'x: [\n', ']')),
  'comments between items': () => one(fill('- a\n#\n')),
  'blank lines': () => one(fill('\n', 'x: a\n', 'y: b\n')),
  spaces: () => one(fill(' ', 'x:', 'a')),
  tabs: () => one(fill('\t', 'x:', 'a')),
  documents: () => one(fill('---\n')),
  directives: () => one(fill('%A b\n')),
  anchors: () => one(fill('&a ')),
  tags: () => one(fill('!a ')),
  'equal keys': () => one(fill('a: b\n')),
  'different keys': () => one(fillLines((index) => `k${index}:`)),
  quotes: () => one(fill('"', 'x: [', ']')),
  'carriage returns': () => one(fill('\r', 'x: a', 'b')),
  'open brackets': () => one(fill('[')),
  'open braces': () => one(fill('{a: ')),
  'nested mappings': () => one(makeLines(1_000, (index) => `${' '.repeat(index)}a:`)),
  '99 levels in each of 100 keys': () =>
    one(`${web}\n${makeLines(100, (index) => `x-${index}: ${'['.repeat(97)}${']'.repeat(97)}`)}`),
}

/** Values that become much more than what was written. */
const expansion: Record<string, () => ReadInput> = {
  'aliases of aliases': () =>
    one(
      `x-0: &a0 [a, a, a, a, a, a, a, a, a]\n${makeLines(20, (index) => `x-${index + 1}: &a${index + 1} [${Array(9).fill(`*a${index}`).join(', ')}]`)}`,
    ),
  'aliases of a long text': () => one(`x-a: &a ${'a'.repeat(500_000)}\nx-b: [${Array(9_000).fill('*a').join(', ')}]`),
  'merge keys': () =>
    one(
      `x-a: &a {${makeLines(2_000, (index) => `k${index}: 1,`)}}\n${makeLines(2_000, (index) => `x-${index}: {<<: *a}`)}`,
    ),
  'services that extend one with 3,000 values': () =>
    one(
      `services:\n  base:\n    image: a\n    labels:\n${makeLines(3_000, (index) => `      l${index}: v`)}\n${makeLines(3_000, (index) => `  s${index}: {extends: base}`)}`,
    ),
  'services that extend one with a long text': () =>
    one(
      `services:\n  base:\n    image: a\n    labels: {a: ${'a'.repeat(500_000)}}\n${makeLines(3_000, (index) => `  s${index}: {extends: base}`)}`,
    ),
  'services that extend one with 1,000 ports': () =>
    one(
      `services:\n  base:\n    image: a\n    expose: ["1-1000"]\n${makeLines(3_000, (index) => `  s${index}: {extends: base}`)}`,
    ),
  '490 services that extend one with 38 values': () =>
    extendBase(490, `    labels:\n${makeLines(36, (index) => `      l${index}: v`)}`),
  '490 services that extend one with a text of 8,000 characters': () =>
    extendBase(490, `    labels: {a: ${'a'.repeat(8_000)}}`),
  '490 services that extend one with 1,000 ports': () => extendBase(490, '    expose: ["1-1000"]'),
  '5 services that extend one with 1,900 volumes': () =>
    extendBase(5, `    volumes:\n${makeLines(1_900, (index) => `      - /v${index}:/v${index}`)}`),
  '5 services that extend one with 1,900 ports': () =>
    extendBase(5, `    ports:\n${makeLines(1_900, (index) => `      - "${index + 1}:${index + 1}"`)}`),
  '5 services that extend one with 3,800 ports and ranges': () =>
    extendBase(
      5,
      `    ports:\n${makeLines(1_900, (index) => `      - "${index + 40_000}:${index + 40_000}"`)}\n${makeLines(1_900, (index) => `      - "${index * 2 + 1}-${index * 2 + 2}:${index * 2 + 1}-${index * 2 + 2}"`)}`,
    ),
  'a chain of 490 extended services': () =>
    one(
      `services:\n${makeLines(490, (index) => `  s${index}: {image: a, extends: s${index + 1}}`)}\n  s490: {image: a}`,
    ),
  'a cycle of 490 extended services': () =>
    one(`services:\n${makeLines(490, (index) => `  s${index}: {image: a, extends: s${(index + 1) % 490}}`)}`),
  'a chain of 3,000 extended services': () =>
    one(
      `services:\n${makeLines(3_000, (index) => `  s${index}: {image: a, extends: s${index + 1}}`)}\n  s3000: {image: a}`,
    ),
  'a cycle of 3,000 extended services': () =>
    one(`services:\n${makeLines(3_000, (index) => `  s${index}: {image: a, extends: s${(index + 1) % 3_000}}`)}`),
  'overrides that each add an item after a long one': () => ({
    files: [
      { name: 'compose.yaml', text: `services: {web: {image: a, dns: [${'a'.repeat(400_000)}]}}` },
      ...count(1_800).map((index) => ({ name: `${index}.yaml`, text: `services: {web: {dns: [d${index}]}}` })),
    ],
    envFiles: [],
  }),
  'overrides of lists with 4,000 items': () => ({
    files: ['a', 'b'].map((letter) => ({
      name: `${letter}.yaml`,
      text: `services:\n  web:\n    image: a\n    ports:\n${makeLines(4_000, (index) => `      - "${index + 1}:${letter === 'a' ? 1 : 2}${index}"`)}`,
    })),
    envFiles: [],
  }),
  'files that include each other': () => ({
    files: count(500).map((index) => ({
      name: `${index}.yaml`,
      text: `include: [${count(8).map((other) => `${(index + other + 1) % 500}.yaml`)}]\nservices: {s${index}: {image: a}}`,
    })),
    envFiles: [],
  }),
}

/** Variables and `.env` files. */
const variables: Record<string, () => ReadInput> = {
  'dollar signs': () => one(fill('$', 'x-a: ')),
  'dollar signs in 5,000 values': () => one(fillLines((index) => `x-${index}: ${'$$'.repeat(90)}`, web)),
  'unset variables in one value': () => one(fillLines((index) => ` $a${index}`, 'x-a:')),
  'unset variables in 5,000 values': () =>
    one(makeLines(5_000, (index) => `x-${index}: ${makeLines(10, (at) => `$a${index}_${at}`).replaceAll('\n', '')}`)),
  'defaults without end': () => one(fill('${A:-', 'x-a: ')),
  'nested defaults': () => one(fill('}', `x-a: ${fill('${A:-').slice(0, mebibyte * 0.8)}`)),
  'defaults of 19 levels': () => one(fill(`${'${A:-'.repeat(19)}${'}'.repeat(19)}`, `${web}\nx-a: `)),
  'a default of 19 levels around 1 MiB': () => one(fill('a', `x-a: ${'${A:-'.repeat(19)}`, '}'.repeat(19))),
  'long variables': () => withEnv(fill('${A} ', 'x-a: '), `A=${'a'.repeat(60_000)}`),
  'a .env of short lines': () =>
    withEnv(
      'services: {web: {image: a}}',
      fillLines((index) => `A${index}=`),
    ),
  'a .env of equal names': () => withEnv(web, fill('A=1\n')),
  'a .env of invalid lines': () => withEnv(web, fill('!\n')),
  'a .env of comments': () => withEnv(web, fill('#\n')),
  'a .env of quotes': () => withEnv(web, fill('A="\n')),
  'a .env of variables': () => withEnv(web, fill('$A', 'A=')),
  'a .env that doubles': () =>
    withEnv(
      'services: {web: {image: a}}',
      `A0=aaaaaaaaaaaaaaaa\n${makeLines(5_000, (index) => `A${index + 1}=$A${index}$A${index}`)}`,
    ),
  'a .env of comments in 490 services': () => withEnv(useEnv(490), fill('#\n')),
  'a .env of 1,000 names in 490 services': () =>
    withEnv(
      useEnv(490),
      makeLines(1_000, (index) => `A${index}=1`),
    ),
  'a .env of 20 names in 490 services': () =>
    withEnv(
      useEnv(490),
      makeLines(20, (index) => `A${index}=1`),
    ),
  'a .env of 60 names in 490 services': () =>
    withEnv(
      useEnv(490),
      makeLines(60, (index) => `A${index}=1`),
    ),
  'a .env of invalid lines in 490 services': () =>
    withEnv(
      useEnv(490),
      makeLines(1_000, () => '!'),
    ),
  'a .env of comments in 3,000 services': () =>
    withEnv(`services:\n${makeLines(3_000, (index) => `  s${index}: {image: a, env_file: .env}`)}`, fill('#\n')),
  'a .env of 1,000 names in 3,000 services': () =>
    withEnv(
      `services:\n${makeLines(3_000, (index) => `  s${index}: {image: a, env_file: .env}`)}`,
      makeLines(1_000, (index) => `A${index}=1`),
    ),
}

/** What the conversion does with many values. */
const conversion: Record<string, () => ReadInput> = {
  'dependencies in a cycle of 490 services': () =>
    one(`services:\n${makeLines(490, (index) => `  s${index}: {image: a, depends_on: [s${(index + 1) % 490}]}`)}`),
  'a chain of 490 dependencies': () =>
    one(
      `services:\n${makeLines(490, (index) => `  s${index}: {image: a${index > 0 ? `, depends_on: [s${index - 1}]` : ''}}`)}`,
    ),
  '90 services that depend on each other': () =>
    one(
      `services:\n${makeLines(90, (index) => `  s${index}: {image: a, depends_on: [${count(index).map((other) => `s${other}`)}]}`)}`,
    ),
  '9,900 ports': () => service(`    ports:\n${makeLines(9_900, (index) => `      - "${index + 1}:${index + 1}"`)}`),
  '3,000 long ports': () =>
    service(`    ports:\n${makeLines(3_000, (index) => `      - {target: ${index + 1}, published: "${index + 1}"}`)}`),
  '5,000 unknown ports': () => service(`    ports:\n${makeLines(4_900, (index) => `      - {x: ${index}}`)}`),
  '9,900 invalid ports': () => service(`    ports:\n${makeLines(9_900, (index) => `      - p${index}`)}`),
  '5,000 dependencies in a cycle of 5,000 services': () =>
    one(`services:\n${makeLines(5_000, (index) => `  s${index}: {depends_on: [s${(index + 1) % 5_000}]}`)}`),
  '1,900 unordered port ranges': () =>
    service(
      `    ports:\n${makeLines(1_900, (index) => `      - "${index + 1}-${index + 60}:${index + 1}-${index + 60}"`)}`,
    ),
  'a range of 60,000 ports': () => service('    ports: ["1-60000:1-60000"]'),
  'a range of 60,000 UDP ports': () => service('    ports: ["1-60000:1-60000/udp"]'),
  'a range of 60,000 ports at an address': () => service('    ports: ["127.0.0.1:1-60000:1-60000"]'),
  '60 ranges of 1,000 UDP ports': () =>
    service(
      `    ports:\n${makeLines(60, (index) => `      - "${index * 1_000 + 1}-${index * 1_000 + 1_000}:${index * 1_000 + 1}-${index * 1_000 + 1_000}/udp"`)}`,
    ),
  '490 services with 1,000 exposed ports': () =>
    one(`services:\n${makeLines(490, (index) => `  s${index}: {image: a, expose: ["1-1000"]}`)}`),
  '9,900 volumes without a name': () =>
    service(`    volumes:\n${makeLines(9_900, (index) => `      - /v${index}/data`)}`),
  '9,900 volumes': () => service(`    volumes:\n${makeLines(9_900, (index) => `      - /v${index}:/v${index}`)}`),
  '490 services that share a volume': () =>
    one(`volumes: {v: }\nservices:\n${makeLines(490, (index) => `  s${index}: {image: a, volumes: ["v:/v"]}`)}`),
  '9,900 variables': () => service(`    environment:\n${makeLines(9_900, (index) => `      A${index}: b`)}`),
  '9,900 variables in a list': () => service(`    environment:\n${makeLines(9_900, (index) => `      - A${index}=b`)}`),
  '9,900 labels': () => service(`    labels:\n${makeLines(9_900, (index) => `      a${index}: b`)}`),
  '9,900 arguments': () => service(`    command: [${count(9_900)}]`),
  '9,900 equal arguments': () => service(`    command: [${Array(9_900).fill('a')}]`),
  'a command of 1 MiB': () => one(fill("a 'b' ", 'services: {web: {image: a, command: "', '"}}')),
  '9,900 hosts': () => service(`    extra_hosts:\n${makeLines(9_900, (index) => `      - h${index}:1.2.3.4`)}`),
  '9,900 networks': () =>
    one(
      `networks:\n${makeLines(4_900, (index) => `  n${index}:`)}\nservices:\n  web:\n    image: a\n    networks:\n${makeLines(4_900, (index) => `      - n${index}`)}`,
    ),
  '9,900 unknown keys': () => service(makeLines(9_900, (index) => `    key${index}: a`)),
  '490 services with unknown keys': () =>
    one(`services:\n${makeLines(490, (index) => `  s${index}: {image: a, imagge: a, enviroment: b}`)}`),
  '490 services that are not kept': () =>
    one(
      `services:\n${makeLines(490, (index) => `  s${index}: {image: a, ipc: host, pid: host, cgroup: host, ports: [80]}`)}`,
    ),
  'x-crux beside 9,000 ports': () =>
    service(
      `    x-crux: {user: 1, tty: true, workingDirectory: /a, commands: [{key: a}], args: [{key: a}], expose: none, networks: [{key: a}]}\n    ports:\n${makeLines(9_000, (index) => `      - "${index + 1}:${index + 1}"`)}`,
    ),
  'a long name with 9,000 ports that are not kept': () =>
    one(
      `services:\n  ? ${'a'.repeat(400_000)}\n  :\n    image: a\n    expose:\n${makeLines(9_000, (index) => `      - p${index}`)}`,
    ),
}

/** By what they are. */
export const worstInputs: Readonly<Record<string, () => ReadInput>> = {
  ...yaml,
  ...expansion,
  ...variables,
  ...conversion,
}
