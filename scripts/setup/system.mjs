import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline/promises'

/** The parts of the machine outside of PATH. Tests replace them. */
export const thisMachine = {
  platform: process.platform,
  systemDirectories: ['/usr/sbin', '/sbin', '/usr/local/sbin', '/usr/bin'],
  osRelease: '/etc/os-release',
  systemd: '/run/systemd/system',
  dockerSocket: '/var/run/docker.sock',
  dockerStartMs: 30_000,
}

/** The path of a command, including the system directories, which the PATH of root may lack after `su`. */
export function findCommand(name, { systemDirectories } = thisMachine) {
  const directories = [...(process.env.PATH ?? '').split(delimiter), ...systemDirectories]
  return directories.map((directory) => join(directory, name)).find(isExecutable)
}

export function isDebian(machine = thisMachine) {
  if (!existsSync(machine.osRelease) || !findCommand('apt-get', machine)) return false
  return /^ID(_LIKE)?=.*\b(debian|ubuntu)\b/m.test(readFileSync(machine.osRelease, 'utf8'))
}

/** The prefix to run a command as root: empty, sudo, or undefined. */
export function rootPrefix(machine = thisMachine) {
  if (process.getuid?.() === 0) return []
  const sudo = findCommand('sudo', machine)
  if (!sudo) return undefined
  // Without a terminal, only a sudo without a password prompt works.
  if (process.stdin.isTTY) return [sudo]
  return spawnSync(sudo, ['-n', 'true'], { stdio: 'ignore' }).status === 0 ? [sudo, '-n'] : undefined
}

/** Asks on a terminal; without one, continues and prints a message. */
export async function agree(question, goingAhead) {
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    console.log(goingAhead)
    return true
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const answer = await terminal.question(`${question} [Y/n] `)
  terminal.close()
  return /^(y|yes|)$/i.test(answer.trim())
}

/** @returns undefined, or the error in one line */
export function installPackages(prefix, packages) {
  const env = ['env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-qq', '-o', 'Dpkg::Use-Pty=0']
  const run = (args) => {
    const [command, ...rest] = [...prefix, ...env, ...args]
    return spawnSync(command, rest, { stdio: ['inherit', 'ignore', 'pipe'], encoding: 'utf8' })
  }
  run(['update'])
  const result = run(['install', '-y', '--no-install-recommends', ...packages])
  if (result.status === 0) return undefined
  return `apt-get install ${packages.join(' ')} failed: ${(result.stderr || String(result.error)).trim().split('\n').pop()}`
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
