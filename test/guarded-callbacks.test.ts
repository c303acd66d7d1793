import { expect, test } from 'vitest'
import { projectFiles } from './repository.ts'

// An exception in a callback of a timer, a listener or a stream has no caller. In the agent each callback is wrapped by `guarded`
// (packages/service-kit), which catches, logs and counts it.

/** The gate is a separate process without imports, whose entry catches all errors. */
const files = projectFiles(/^apps\/agent\/src\/.*\.ts$/).filter(
  ({ path }) => !/\.test\.ts$/.test(path) && !path.startsWith('apps/agent/src/engines/docker/gate/relay/'),
)
const takesCallback =
  /(?:(?<![.\w])(setTimeout|setInterval|setImmediate|queueMicrotask)|\w\??\.(?:on|once|setTimeout|addListener|prependListener|addEventListener))\(/g

/** The arguments of a call, after its opening parenthesis. Strings may contain any parenthesis and comma. */
function argumentsAt(text: string, start: number): string[] {
  const found: string[] = []
  let depth = 0
  let from = start
  let quote = ''
  for (let at = start; at < text.length; at++) {
    const char = text[at] ?? ''
    if (quote !== '') {
      if (char === '\\') at += 1
      else if (char === quote) quote = ''
    } else if (char === "'" || char === '"' || char === '`') quote = char
    else if ('([{'.includes(char)) depth += 1
    else if (depth === 0 && (char === ',' || char === ')')) {
      found.push(text.slice(from, at).trim())
      from = at + 1
      if (char === ')') return found.filter((argument) => argument !== '')
    } else if (')]}'.includes(char)) depth -= 1
  }
  return found
}

/** Resolving a promise and empty callbacks cannot throw. A name is safe if the file creates it with `guarded`. */
function isSafe(callback: string, text: string): boolean {
  if (/^guarded\(/.test(callback)) return true
  if (/^(\(\) => undefined|resolve|reject|[\w.]+\.(resolve|reject))$/.test(callback)) return true
  if (/^\([\w: ]*\) => (resolve|reject)\([^()]*(\([^()]*\))?\)$/.test(callback)) return true
  const name = /^(\w+)(\(|$)/.exec(callback)?.[1]
  return (
    name !== undefined &&
    new RegExp(`\\bconst ${name} =[^\\n]*(=>\\s*)?guarded\\(|\\bconst ${name} =[^\\n]*=>\\n\\s*guarded\\(`).test(text)
  )
}

function unguarded(text: string): string[] {
  return [...text.matchAll(takesCallback)].flatMap((match) => {
    const given = argumentsAt(text, match.index + match[0].length)
    const callback = match[1] ? given[0] : given[1]
    return callback === undefined || isSafe(callback, text) ? [] : [`${match[0]}${given.join(', ')})`]
  })
}

test('the search for callbacks finds a raw callback of a timer and of a listener, and accepts guarded ones', () => {
  expect(unguarded("setTimeout(() => send('a, (b'), 5)")).toHaveLength(1)
  expect(unguarded("socket.on('data', (chunk) => read(chunk))")).toHaveLength(1)
  expect(unguarded("socket.on('data', read)")).toHaveLength(1)
  expect(unguarded("signal.addEventListener('abort', stop, { once: true })")).toHaveLength(1)
  expect(unguarded("const stop = guarded('a pause', () => end())\nsignal.addEventListener('abort', stop)")).toEqual([])
  expect(
    unguarded("setTimeout(guarded('x', send), 5); setTimeout(resolve, 5); a.on('error', () => undefined)"),
  ).toEqual([])
  expect(unguarded("a.on('error', (error) => reject(new Error('x')))")).toEqual([])
})

test('the agent has no raw callback of a timer, a listener or a stream', () => {
  expect(files.length).toBeGreaterThan(50)
  const found = files.flatMap(({ path, text }) =>
    unguarded(text).map((call) => `${path}: ${call.replace(/\s+/g, ' ')}`),
  )
  expect(found).toEqual([])
})

test('every Crux process installs the global error handler', () => {
  const entries = projectFiles(/^apps\/(server|identity|agent)\/src\/main\.ts$/)
  expect(entries.filter(({ text }) => !text.includes('handleUnhandledErrors(log)')).map(({ path }) => path)).toEqual([])
  const [gate] = projectFiles(/^apps\/agent\/src\/engines\/docker\/gate\/relay\/main\.ts$/)
  expect(gate?.text).toContain("process.on('uncaughtException'")
})
