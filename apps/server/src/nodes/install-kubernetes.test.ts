import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { kubernetesScript } from './install-kubernetes.ts'
import type { ClusterValues } from './install-values.ts'

const values: ClusterValues = {
  url: 'https://crux.example.com',
  teamSlug: 'acme',
  nodeId: 'node-1',
  nodeName: "it's $(touch injected) `a` node",
  token: 'crux_token',
  agentNamespace: 'crux-agent-1',
  namespaces: [],
  image: 'crux/agent:1',
  imageIsPulled: true,
  installId: 'install-1',
  plaintext: false,
  loopback: false,
}

let directory: string
beforeEach(() => {
  directory = join(mkdtempSync(join(tmpdir(), 'crux-install-')), 'with a space')
  mkdirSync(join(directory, 'bin'), { recursive: true })
  // Records its arguments and what is applied, and answers about namespaces as the environment says.
  writeFileSync(
    join(directory, 'bin', 'kubectl'),
    [
      '#!/bin/sh',
      'printf "%s|" "$@" >>"$RECORD/calls"; printf "\\n" >>"$RECORD/calls"',
      'case "$1 $2 $3" in',
      '  "get namespace crux-agent-1") printf "%s" "$EXISTING" ;;',
      '  "get namespace "*) case " $OTHERS " in *" $3 "*) ;; *) exit 1 ;; esac ;;',
      '  "get deployment "*) printf "%s" "$INSTALLED" ;;',
      '  "apply -f -") given=$(cat); [ -n "$given" ] || exit 1; printf "%s\\n" "$given" >>"$RECORD/applied" ;;',
      '  "create configmap crux-agent-authority") [ -z "$REFUSED" ] || exit 1; echo authority ;;',
      '  "create configmap "*) printf "%s\\n" "$@" ;;',
      'esac',
      '',
    ].join('\n'),
  )
  chmodSync(join(directory, 'bin', 'kubectl'), 0o755)
})
afterEach(() => rmSync(join(directory, '..'), { recursive: true, force: true }))

function run(changes: Partial<ClusterValues> = {}, env: Record<string, string> = {}) {
  return new Promise<{ code: number | null; output: string }>((resolve) => {
    const child = spawn('sh', [], {
      cwd: directory,
      env: {
        ...{ PATH: process.env.PATH ?? '', RECORD: directory, KUBECTL: join(directory, 'bin', 'kubectl') },
        ...{ EXISTING: '', INSTALLED: '', OTHERS: '', REFUSED: '', ...env },
      },
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += String(data)))
    child.on('close', (code) => resolve({ code, output }))
    child.stdin.end(kubernetesScript({ ...values, ...changes }))
  })
}
const applied = () => (existsSync(join(directory, 'applied')) ? readFileSync(join(directory, 'applied'), 'utf8') : '')

test('installs with a kubectl and an authority in a directory with spaces, and runs no name of a node', async () => {
  const authority = join(directory, 'my ca.pem')
  writeFileSync(authority, 'certificate')
  const rootDomain = `a'b "c" $HOME`
  const { code, output } = await run({}, { CRUX_CA_FILE: authority, ROOT_DOMAIN: rootDomain })
  expect(output).toContain('the agent runs in the namespace crux-agent-1')
  expect(code).toBe(0)
  expect(applied()).toContain(`--from-literal=ROOT_DOMAIN=${rootDomain}\n`)
  expect(readFileSync(join(directory, 'calls'), 'utf8')).toContain(`|--from-file=ca.pem=${authority}|`)
  expect(existsSync(join(directory, 'injected'))).toBe(false)
})

test('takes a kubectl of several words, as k3s and microk8s have it', async () => {
  const { code } = await run({}, { KUBECTL: 'env kubectl', PATH: `${join(directory, 'bin')}:${process.env.PATH}` })
  expect(code).toBe(0)
  expect(applied()).toContain('kind: Deployment')
})

test('changes no namespace of anybody else, and no agent of another node', async () => {
  for (const [env, reason] of [
    [{ EXISTING: 'crux-agent-1:' }, 'the namespace crux-agent-1 exists already and is not the agent'],
    [{ EXISTING: 'crux-agent-1:crux-agent', INSTALLED: 'node-2' }, 'has the agent of another node'],
  ] as const) {
    const { code, output } = await run({}, env)
    expect(output).toContain(reason)
    expect(code).toBe(1)
    expect(applied()).toBe('')
  }
})

test('may run again for its node', async () => {
  for (const INSTALLED of ['', 'node-1']) {
    const { code } = await run({}, { EXISTING: 'crux-agent-1:crux-agent', INSTALLED })
    expect(code).toBe(0)
  }
})

test('names the namespaces that do not exist before anything is installed', async () => {
  const { code, output } = await run({ namespaces: ['shop', 'blog', 'wiki'] }, { OTHERS: 'shop' })
  expect(output).toContain('create them first: blog wiki')
  expect(code).toBe(1)
  expect(applied()).toBe('')
  expect((await run({ namespaces: ['shop'] }, { OTHERS: 'shop' })).code).toBe(0)
})

test('installs no agent whose authority could not be stored', async () => {
  writeFileSync(join(directory, 'ca.pem'), 'certificate')
  const { code, output } = await run({}, { CRUX_CA_FILE: join(directory, 'ca.pem'), REFUSED: 'yes' })
  expect(output).toContain('the settings could not be stored')
  expect(code).toBe(1)
  expect(applied()).not.toContain('kind: Deployment')
})
