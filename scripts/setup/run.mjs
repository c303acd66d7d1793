import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { node24, projectEnvironment, root } from './install.mjs'

const setpriv = ['/usr/bin/setpriv', '/bin/setpriv'].find((path) => existsSync(path))
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']

/**
 * Runs a script of the checkout under Node 24 and exits with its exit code. Signals are forwarded once: a Ctrl-C arrives here from the terminal and
 * again from npm, and processes treat a second one as "exit at once". If this process or its parent npm is killed, the script is stopped.
 */
export function runUnderNode24(script, args, { env = {}, cwd = root } = {}) {
  const command = [node24(), script, ...args]
  if (setpriv) command.unshift(setpriv, '--pdeathsig', 'TERM', '--')
  const child = spawn(command[0], command.slice(1), {
    cwd,
    env: { ...projectEnvironment(), ...env },
    stdio: 'inherit',
    // The script has a session of its own, so that Ctrl-C reaches it only through this process and exactly once.
    detached: true,
  })
  let lastSignal = 0
  const pass = (signal) => {
    if (Date.now() - lastSignal < 1000) return
    lastSignal = Date.now()
    child.kill(signal)
  }
  for (const signal of signals) process.on(signal, () => pass(signal))
  const watch = watchAncestors(() => pass('SIGTERM'))
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: 1, words: error.message }))
    child.once('exit', (code, signal) => {
      clearInterval(watch)
      resolve({ code: code ?? 1, words: signal ? `ended by ${signal}` : '' })
    })
  })
}

/** npm starts a shell that starts this script. When npm or the shell is gone, no terminal can stop the script any more. */
function watchAncestors(onGone) {
  if (!process.env.npm_lifecycle_event || process.platform !== 'linux') return undefined
  const parent = getStatus(process.ppid)
  const grandparent = parent && /^(sh|dash|bash|ash)$/.test(parent.name) ? getStatus(parent.ppid) : undefined
  const known = [parent, grandparent].filter((entry) => entry !== undefined)
  const timer = setInterval(() => {
    const gone = known.some((entry) => getStatus(entry.pid)?.startTime !== entry.startTime)
    if (gone) {
      clearInterval(timer)
      onGone()
    }
  }, 1_000)
  timer.unref()
  return timer
}

function getStatus(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const close = text.lastIndexOf(')')
    const fields = text.slice(close + 2).split(' ')
    if (fields[0] === 'Z') return undefined
    return { pid, name: text.slice(text.indexOf('(') + 1, close), ppid: Number(fields[1]), startTime: fields[19] }
  } catch {
    return undefined
  }
}
