import { spawn, spawnSync } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { agree, findCommand, installPackages, isDebian, rootPrefix, thisMachine } from './system.mjs'

const installHint = 'install Docker (on Debian or Ubuntu: apt-get install docker.io) and start dockerd'

/**
 * Ensures that a Docker engine answers: installs docker.io on Debian and Ubuntu, and starts dockerd where none runs. Never fails, because Crux is
 * useful without a local engine, for nodes on other machines.
 *
 * @param variables environment of a dockerd that is started here
 * @returns one line about Docker for the output of the start
 */
export async function ensureDocker(dataDir, machine = thisMachine, variables = {}) {
  const host = process.env.DOCKER_HOST
  const socket = `unix://${machine.dockerSocket}`
  const first = await ping(host || socket)
  if (first === 'ok') return `ready${host ? ` at ${host}` : ''}`
  if (host) return `not available: nothing answers at DOCKER_HOST ${host}`
  if (first === 'denied') {
    const user = userInfo().username
    return `not available: ${user} may not use ${machine.dockerSocket} (sudo usermod -aG docker ${user}, then sign in again)`
  }
  if (machine.platform !== 'linux') return 'not available: no Docker engine answers; start Docker Desktop or the like'

  const prefix = rootPrefix(machine)
  let installed = false
  if (!findCommand('dockerd', machine)) {
    if (!isDebian(machine) || !prefix) return `not available: dockerd is not installed; ${installHint}`
    if (
      !(await agree(
        'No Docker on this machine. Install docker.io with apt-get?',
        'No Docker on this machine: installing docker.io with apt-get ...',
      ))
    ) {
      return `not available: not installed; ${installHint}`
    }
    const problem = installPackages(prefix, ['docker.io', 'iptables', 'ca-certificates'])
    if (problem) return `not available: ${problem}`
    installed = true
  }
  if ((await ping(socket)) === 'ok') return 'ready'
  if (!prefix) return 'not available: dockerd does not run, and starting it needs root (sudo dockerd)'
  if (
    !installed &&
    !(await agree('No Docker engine runs. Start dockerd?', 'No Docker engine runs: starting dockerd ...'))
  ) {
    return 'not available: dockerd does not run'
  }
  return startDockerd(prefix, dataDir, machine, variables)
}

/** Uses systemd if it runs; otherwise starts a separate session that outlives Crux, as containers must. */
async function startDockerd(prefix, dataDir, machine, variables) {
  const log = join(dataDir, 'logs/dockerd.log')
  if (existsSync(machine.systemd)) {
    const [command, ...args] = [...prefix, 'systemctl', 'start', 'docker']
    spawnSync(command, args, { stdio: 'inherit' })
  } else {
    if (prefix.length > 0) spawnSync(prefix[0], ['-v'], { stdio: 'inherit' })
    mkdirSync(dataDir, { recursive: true })
    mkdirSync(join(dataDir, 'logs'), { recursive: true, mode: 0o700 })
    const out = openSync(log, 'a', 0o600)
    const [command, ...args] = [...prefix, findCommand('dockerd', machine)]
    spawn(command, args, {
      detached: true,
      stdio: ['ignore', out, out],
      cwd: '/',
      env: { ...process.env, ...variables },
    })
      .on('error', () => undefined)
      .unref()
    closeSync(out)
  }
  for (const end = Date.now() + machine.dockerStartMs; Date.now() < end; ) {
    if ((await ping(`unix://${machine.dockerSocket}`)) === 'ok')
      return 'ready (dockerd was started and keeps running when Crux stops)'
    await delay(100)
  }
  const last = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n').pop() : ''
  return `not available: dockerd does not answer; its log ${log} ends with: ${last}`
}

/** @returns 'ok', 'denied' or 'down' */
function ping(host) {
  const unix = /^unix:\/\/(.+)$/.exec(host)?.[1]
  const tcp = /^(?:tcp|http):\/\/(.+)$/.exec(host)?.[1]
  if (!unix && !tcp) return Promise.resolve('down')
  const target = unix
    ? { socketPath: unix }
    : { host: new URL(`http://${tcp}`).hostname, port: new URL(`http://${tcp}`).port || 2375 }
  return new Promise((resolve) => {
    const call = request({ ...target, path: '/_ping', timeout: 3_000 }, (answer) => {
      answer.resume()
      resolve(answer.statusCode === 200 ? 'ok' : 'down')
    })
    call.on('timeout', () => call.destroy())
    call.on('error', (error) => resolve(error.code === 'EACCES' ? 'denied' : 'down'))
    call.end()
  })
}
