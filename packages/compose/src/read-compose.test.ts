import { describe, expect, test } from 'vitest'
import { makeLargeCompose } from '../test/large-compose.ts'
import { readCompose } from './index.ts'
import { limits } from './read/limits.ts'

const read = (text: string, env?: string) =>
  readCompose({
    files: [{ name: 'compose.yaml', text }],
    envFiles: env === undefined ? [] : [{ name: '.env', text: env }],
  })
const listMessages = (text: string, env?: string) => read(text, env).problems.map(({ message }) => message)
const mebibyte = limits.textLength
const fill = (text: string) => text.repeat(Math.floor(mebibyte / text.length))

describe('the limits of files', () => {
  test('more than 1 MiB of all files together is refused before it is read', () => {
    const half = `# ${'x'.repeat(mebibyte / 2)}`
    const { problems } = readCompose({ files: ['a', 'b'].map((name) => ({ name, text: half })), envFiles: [] })
    expect(problems).toMatchObject([{ message: expect.stringContaining('1 MiB'), file: 'a', line: 1 }])
  })

  test('aliases are counted as what they repeat', () => {
    const levels = Array.from(
      { length: 20 },
      (_, at) => `a${at + 1}: &a${at + 1} [${Array(9).fill(`*a${at}`).join(', ')}]`,
    )
    expect(listMessages(['a0: &a0 [x, x]', ...levels].join('\n'))).toEqual([expect.stringContaining('10,000 values')])
  })

  test('10,000 values are read, and one more is not', () => {
    const make = (count: number) => `x-a:\n${'  - a\n'.repeat(count)}services: {}\n`
    // The list, the services and the file itself are values too.
    expect(listMessages(make(limits.nodes - 3))).toEqual([])
    expect(listMessages(make(limits.nodes - 2))).toEqual([expect.stringContaining('10,000 values')])
  })

  test('services that extend a large one are counted with all that they repeat', () => {
    const large = Array.from({ length: 3_000 }, (_, at) => `k${at}: a`).join(', ')
    const services = Array.from({ length: 400 }, (_, at) => `  s${at}: { extends: base }`)
    const text = ['services:', `  base: { image: a, environment: { ${large} } }`, ...services].join('\n')
    expect(listMessages(text)).toEqual([expect.stringContaining('20,000 values')])
  })

  test('500 services are read, and one more is not', () => {
    const make = (count: number) =>
      `services:\n${Array.from({ length: count }, (_, at) => `  s${at}: { image: a }`).join('\n')}`
    expect(listMessages(make(limits.services))).toEqual([])
    expect(listMessages(make(limits.services + 1))).toEqual([expect.stringContaining('500 services')])
  })

  test('services that extend one with a long text are counted with all that they repeat', () => {
    const services = Array.from({ length: 100 }, (_, at) => `  s${at}: { extends: base }`)
    const text = ['services:', `  base: { image: a, labels: { a: ${'a'.repeat(50_000)} } }`, ...services].join('\n')
    expect(listMessages(text)).toEqual([expect.stringContaining('4 MiB')])
  })

  test('a key has at most 1,024 characters', () => {
    const make = (length: number) => `services: {}\n? x-${'a'.repeat(length - 2)}\n: a`
    expect(listMessages(make(limits.keyLength))).toEqual([])
    expect(listMessages(make(limits.keyLength + 1))).toEqual([expect.stringContaining('1,024 characters')])
  })

  test('values nested more than 100 levels deep are refused, also by aliases', () => {
    expect(listMessages(`x-a: ${'['.repeat(101)}`)).toEqual([expect.stringContaining('100 levels')])
    const half = (inner: string) => `${'['.repeat(60)}${inner}${']'.repeat(60)}`
    expect(listMessages(`x-a: &a ${half('1')}\nx-b: ${half('*a')}`)).toEqual([expect.stringContaining('100 levels')])
  })

  test.each([
    ['one long text', `x-a: ${'x'.repeat(mebibyte - 5)}`],
    ['an open quote', `x-a: "${'x'.repeat(mebibyte - 6)}`],
    ['open brackets', '['.repeat(mebibyte)],
    ['closing brackets', ']'.repeat(mebibyte)],
    ['dashes', fill('-\n')],
    ['comments', fill('#\n')],
    ['documents', fill('---\n')],
    ['anchors', fill('&a ')],
    ['tags', fill('!a ')],
    ['nested defaults', `services: {a: {image: "${'${A:-'.repeat(200_000)}"}}`],
    ['variables', `services: {a: {image: "${'$A'.repeat(500_000)}"}}`],
    ['control characters', '\0'.repeat(mebibyte)],
  ])('1 MiB of %s ends with a result', (_, text) => {
    expect(read(text).problems.length).toBeLessThanOrEqual(limits.problems)
  })

  test('of many problems, the first 50 are kept', () => {
    const keys = Array.from({ length: 9_000 }, (_, at) => `  imagee${at}: a`)
    const { problems } = read(['services:', ' a:', ...keys].join('\n'))
    expect(problems).toHaveLength(limits.problems)
    expect(problems[0]?.line).toBe(3)
  })
})

describe('the limits of variables', () => {
  test('variables that repeat each other end at 64 KiB', () => {
    const doubled = Array.from({ length: 40 }, (_, at) => `V${at + 1}="$V${at}$V${at}"`)
    expect(listMessages('services: {}', ['V0=xxxxxxxx', ...doubled].join('\n'))).toContainEqual(
      expect.stringContaining('64 KiB'),
    )
  })

  test('all values together end at 4 MiB', () => {
    const services = Array.from({ length: 100 }, (_, at) => `  s${at}: { image: "$LONG" }`)
    const messages = listMessages(['services:', ...services].join('\n'), `LONG=${'x'.repeat(60_000)}`)
    expect(messages).toEqual([expect.stringContaining('4 MiB')])
  })

  test('an .env file counts for every service that names it, with its variables and its text', () => {
    const services = Array.from({ length: 400 }, (_, at) => `  s${at}: { image: a, env_file: .env }`)
    const text = ['services:', ...services].join('\n')
    const variables = Array.from({ length: 100 }, (_, at) => `A${at}=1`).join('\n')
    expect(listMessages(text, variables)).toEqual([expect.stringContaining('30,000 variables')])
    expect(listMessages(text, `# ${'a'.repeat(10_000)}`)).toEqual([expect.stringContaining('2 MiB')])
  })

  test('defaults inside defaults end at their limit', () => {
    const make = (depth: number) => `services: {a: {image: "${'${A:-'.repeat(depth)}x${'}'.repeat(depth)}"}}`
    expect(listMessages(make(limits.nestedDefaults))).toEqual([])
    expect(listMessages(make(limits.nestedDefaults + 1))).toEqual([expect.stringContaining('nested')])
  })
})

describe('the document', () => {
  test('a name of the prototype is an ordinary key', () => {
    const { document } = read('services: {a: {image: a, labels: {__proto__: x, constructor: y}}}')
    expect(JSON.stringify(document?.value)).toContain('"labels":{"__proto__":"x","constructor":"y"}')
    expect(Object.getPrototypeOf(document?.value)).toBe(Object.prototype)
  })

  test('positions are those of values, of keys of mappings, and of the nearest value above', () => {
    const { document } = read('services:\n  web:\n    image: a\n    ports:\n      - "80:80"\n')
    const place = (...path: (string | number)[]) => {
      const { line, column } = document?.position(path) ?? {}
      return `${line}:${column}`
    }
    expect(place('services', 'web', 'image')).toBe('3:12')
    expect(place('services', 'web', 'ports', 0)).toBe('5:9')
    expect(place('services', 'web')).toBe('2:3')
    expect(place('services', 'web', 'healthcheck', 'test')).toBe('2:3')
  })

  test('a value has the place of the file that set it last', () => {
    const files = [
      { name: 'a.yaml', text: 'services:\n  web:\n    image: a\n    user: "1"\n' },
      { name: 'b.yaml', text: 'services:\n  web:\n    image: b\n' },
    ]
    const { document } = readCompose({ files, envFiles: [] })
    expect(document?.position(['services', 'web', 'image']).file).toBe('b.yaml')
    expect(document?.position(['services', 'web', 'user']).file).toBe('a.yaml')
    expect(document?.position(['services', 'web']).file).toBe('a.yaml')
  })

  test('200 services with many features have no problem', () => {
    const { document, problems } = readCompose(makeLargeCompose(200))
    expect(problems).toEqual([])
    expect(Object.keys(Object(document?.value.services))).toHaveLength(202)
  })
})
