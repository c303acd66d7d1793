import { execFileSync } from 'node:child_process'
import { homedir } from 'node:os'
import { basename, dirname } from 'node:path'
import { expect, test } from 'vitest'
import { projectFiles, root } from './repository.ts'

const generated = /\/generated\/|\.gen\.ts$|openapi\.json$|\/migrations\/|package-lock\.json$|\/locales\//
const code = projectFiles(/\.(ts|tsx|mjs|css)$/).filter(({ path }) => !generated.test(path))
const texts = projectFiles(/\.(ts|tsx|mjs|css|json|md|html|sh|yml|yaml|npmrc)$|^\.ci\/|(^|\/)\.npmrc$/)

test('no source file is longer than 400 lines', () => {
  const long = code.filter(({ text }) => text.trimEnd().split('\n').length > 400).map(({ path }) => path)
  expect(long).toEqual([])
})

test('files are named in kebab-case, or like the one React component that they export', () => {
  const odd = code
    .map(({ path }) => path)
    .filter((path) => {
      const stem = basename(path).replace(/(\.(test|spec|gen|config|global|d))*\.(ts|tsx|mjs|css)$/, '')
      return !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(stem) && !(path.endsWith('.tsx') && /^[A-Z][A-Za-z0-9]*$/.test(stem))
    })
  expect(odd).toEqual([])
})

test('no file has a meaningless name', () => {
  expect(
    code.map(({ path }) => path).filter((path) => /(^|\/)(utils?|helpers?|common|misc)(\.|\/)/.test(path)),
  ).toEqual([])
})

test('no file names a package registry, because that depends on the machine', () => {
  const configured = execFileSync('npm', ['config', 'get', 'registry'], { cwd: root, encoding: 'utf8' }).trim()
  const known = [
    ['registry', 'npmjs', 'org'].join('.'),
    ['registry', 'yarnpkg', 'com'].join('.'),
    ['deb', 'debian', 'org'].join('.'),
  ]
  const hosts = URL.canParse(configured) ? [...known, new URL(configured).host] : known
  const naming = texts.flatMap(({ path, text }) =>
    hosts.filter((host) => text.includes(host)).map((host) => `${path}: ${host}`),
  )
  expect(naming).toEqual([])
})

test('no file contains a path of the machine on which it was written', () => {
  // A path of the machine has the home directory, the checkout, or a directory beside it. A checkout in a very short path proves nothing.
  const checkout = root.replace(/\/$/, '')
  const directories = [homedir(), checkout, dirname(checkout)].filter((path) => path.split('/').length > 2)
  const naming = texts.flatMap(({ path, text }) =>
    directories.filter((directory) => text.includes(directory)).map((directory) => `${path}: ${directory}`),
  )
  expect(naming).toEqual([])
})

/** `exec` and `shell: true`, and shells that are started as a program: by name with `-c`, also in the arguments of a wrapper. */
const callsShell =
  /shell:\s*(true|['"`])|\bexecSync\(|(?<![.\w])exec\(\s*[`'"]|['"`](?:\/(?:usr\/)?bin\/)?(?:ba|da|a|z|k)?sh['"`]\s*,\s*\[?\s*['"`]-\w*c|['"`](?:cmd(?:\.exe)?|pwsh|powershell(?:\.exe)?)['"`]/

test('the search for shells finds every way to start one', () => {
  for (const text of [
    `spawn('sh', ['-c', line])`,
    `spawn("bash", ["-lc", line])`,
    `spawnSync('/bin/sh', ['-c', line])`,
    `execFile('/usr/bin/dash', ['-c', line])`,
    `spawn('sudo', ['sh', '-c', line])`,
    `exec('ls ' + name)`,
    'execSync(line)',
    `spawn(command, args, { shell: true })`,
    `spawn(command, args, { shell: '/bin/bash' })`,
    `spawn('powershell', [line])`,
  ])
    expect([text, callsShell.test(text)]).toEqual([text, true])
  for (const text of [`spawn('shasum', ['-c'])`, `pattern.exec(text)`, `run('docker', ['exec', name])`])
    expect([text, callsShell.test(text)]).toEqual([text, false])
})

test('no source file runs a command through a shell', () => {
  const product = code.filter(({ path }) => !/\.test\.ts$|^e2e\/|\/test\/|^test\/|^bench\//.test(path))
  const shells = product.filter(({ text }) => /child_process/.test(text) && callsShell.test(text))
  expect(shells.map(({ path }) => path)).toEqual([])
})

test('no test is skipped permanently or run exclusively', () => {
  const tests = code.filter(({ path }) => /\.(test|spec)\.tsx?$/.test(path))
  const odd = tests.filter(({ text }) => /\b(test|it|describe)\.(only|skip|todo)\(/.test(text)).map(({ path }) => path)
  expect(odd).toEqual([])
})
