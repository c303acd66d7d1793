import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { report } from './report.ts'

/** The argument that distinguishes each kind of process from any other: a process number alone may belong to another process by now. */
export const roleFlags = { parent: '--parent', successor: '--successor' } as const
type Role = keyof typeof roleFlags

const toPath = (directory: string, role: Role) => join(directory, `${role}.pid`)

/** @returns the process that the file names, if it still runs in that role: the parent, or a successor that has not become the gate yet */
export function findProcess(directory: string, role: Role): number | undefined {
  try {
    const pid = Number(readFileSync(toPath(directory, role), 'utf8'))
    const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    return args.includes(directory) && args.includes(roleFlags[role]) ? pid : undefined
  } catch {
    return undefined
  }
}

export function writeSuccessor(directory: string, pid: number): void {
  try {
    writeFileSync(toPath(directory, 'successor'), `${pid}\n`, { mode: 0o600 })
  } catch (error) {
    // The file only helps a parent when the gate is killed within the next moments: a full disk must not prevent the handover.
    report(error)
  }
}

/** Called when the process has become the gate or was given up. */
export function forgetSuccessor(directory: string, pid: number | undefined): void {
  if (findProcess(directory, 'successor') === pid) rmSync(toPath(directory, 'successor'), { force: true })
}

const isExists = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'EEXIST'

/** @returns whether this process is the directory's one parent from now on; two of them would each start a gate after an end */
export function claimParent(directory: string): boolean {
  const own = `${toPath(directory, 'parent')}.${process.pid}`
  try {
    // The file is written under another name, then linked: no reader sees a half-written number, and a second link fails.
    writeFileSync(own, `${process.pid}\n`, { mode: 0o600 })
    for (let attempt = 1; ; attempt += 1) {
      const other = findProcess(directory, 'parent')
      if (other !== undefined) return other === process.pid
      try {
        linkSync(own, toPath(directory, 'parent'))
      } catch (error) {
        if (!isExists(error) || attempt > 2) throw error
        rmSync(toPath(directory, 'parent'), { force: true })
      }
    }
  } catch (error) {
    // The write may fail on a full disk: a gate with two parents is better than a gate without one.
    report(error)
    return true
  } finally {
    rmSync(own, { force: true })
  }
}
