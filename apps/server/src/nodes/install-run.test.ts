import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestServer, type TestServer } from '../../test/kit/index.ts'
import { engineAnswers } from './local-agent-process.ts'

/**
 * The command of the page, run unchanged on the real engine. The image is a placeholder that sleeps, because this tests
 * the script; e2e tests the real agent's image.
 */
const ready = (await engineAnswers()) && process.getuid?.() === 0
const run = promisify(execFile)
const name = `crux-install-${randomBytes(4).toString('hex')}`
type Inspection = {
  Id: string
  Config: { Env: string[]; Labels: Record<string, string> }
  HostConfig: { Binds: string[]; NetworkMode: string; RestartPolicy: { Name: string } }
  State: { Running: boolean }
}
let server: TestServer
let directory: string

beforeAll(async () => {
  if (!ready) return
  directory = mkdtempSync(join(tmpdir(), 'crux-install-run-'))
  mkdirSync(join(directory, 'image/bin'), { recursive: true })
  copyFileSync('/bin/busybox', join(directory, 'image/bin/busybox'))
  symlinkSync('/bin/busybox', join(directory, 'image/bin/sleep'))
  const tar = join(directory, 'agent-image.tar')
  await run('sh', [
    '-c',
    `tar -C "$1" -c . | docker import --change 'CMD ["sleep","1000"]' - "$2" && docker save -o "$3" "$2" && docker rmi "$2"`,
    'sh',
    join(directory, 'image'),
    `${name}:1`,
    tar,
  ])
  mkdirSync(join(directory, 'watched'))
  for (const command of ['curl', 'docker']) {
    const real = (await run('which', [command])).stdout.trim()
    const lines = ['#!/bin/sh', `ps axww -o args >>'${join(directory, 'process-lists')}'`, `exec '${real}' "$@"`, '']
    writeFileSync(join(directory, 'watched', command), lines.join('\n'), { mode: 0o755 })
  }
  server = await startTestServer({ config: { dataDir: directory, agentImagePath: tar } })
})

afterAll(async () => {
  if (!ready) return
  await run('docker', ['rm', '-f', name]).catch(() => undefined)
  await run('docker', ['rmi', '-f', `${name}:1`]).catch(() => undefined)
  await server.stop()
  rmSync(directory, { recursive: true, force: true })
})

test.skipIf(!ready)(
  'the command of the page loads the image and starts the container; run again it replaces only its own container',
  async () => {
    const admin = server.signUp()
    const team = await server.createTeam(admin)
    const client = server.client(admin)
    const made = await client.call('nodes.create', { params: { teamSlug: team.slug }, body: { name: 'this machine' } })
    const params = { teamSlug: team.slug, nodeId: made.id }
    const rootPath = join(directory, 'my data')
    const { command } = await client.call('nodes.create-script', {
      params,
      body: { type: 'docker', scriptType: 'shell', workloadName: name, rootPath },
    })
    // As a user pastes it: the shell reads the line. Each program on the way records the process list at that time.
    const install = () => {
      const shell = run('sh', [], {
        env: { ...process.env, PATH: `${join(directory, 'watched')}:${process.env.PATH}` },
      })
      shell.child.stdin?.end(`${command}\n`)
      return shell
    }
    const [token] = /crux_[\w-]{43}/.exec(command) ?? []
    const inspect = async () => {
      const [found] = JSON.parse((await run('docker', ['inspect', name])).stdout) as Inspection[]
      if (!found) throw new Error('no such container')
      return found
    }
    expect((await install()).stdout).toContain(`the agent runs as ${name}`)
    const first = await inspect()
    expect(first.State.Running).toBe(true)
    expect(first.Config.Labels).toMatchObject({ 'dev.crux.service-category': '_internal' })
    expect(first.HostConfig).toMatchObject({ NetworkMode: 'host', RestartPolicy: { Name: 'on-failure' } })
    expect(first.HostConfig.Binds.toSorted()).toEqual(
      [
        `${rootPath}:/data`,
        '/var/run/docker.sock:/var/run/docker.sock',
        ...(process.getuid?.() === 0 ? ['/proc/sys/net/ipv4/conf:/run/host-net-conf'] : []),
      ].toSorted(),
    )
    expect(first.Config.Env).toEqual(
      expect.arrayContaining([`CRUX_URL=${server.url}`, `CRUX_NODE_ID=${made.id}`, `DATA_MOUNT_PATH=${rootPath}`]),
    )
    const tokenFile = join(rootPath, '.agent/install-token')
    expect([readFileSync(tokenFile, 'utf8'), statSync(tokenFile).mode & 0o777]).toEqual([`${token}\n`, 0o600])
    expect(JSON.stringify(first)).not.toContain(token)
    const seen = readFileSync(join(directory, 'process-lists'), 'utf8')
    expect(seen).toMatch(/\bcurl\b.*\bdocker\b.*\brun --detach\b/s)
    expect(seen).not.toContain(token)
    expect((await install()).stdout).toContain(`replacing the previous ${name}`)
    expect((await inspect()).Id).not.toBe(first.Id)

    await run('docker', ['rm', '-f', name])
    await run('docker', ['create', '--name', name, `${name}:1`])
    const foreign = (await inspect()).Id
    await expect(install()).rejects.toMatchObject({ stderr: expect.stringContaining("is not the agent's") })
    expect((await inspect()).Id).toBe(foreign)

    await client.call('nodes.delete-script', { params })
    // curl reports the refusal; sh gets nothing to run.
    expect((await install()).stderr).toContain('401')
    expect((await inspect()).Id).toBe(foreign)
  },
  60_000,
)
