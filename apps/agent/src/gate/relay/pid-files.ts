import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The argument that tells each kind of process from any other: a process number alone may belong to another process by now. */
export const roleFlags = { parent: '--parent', successor: '--successor' } as const
type Role = keyof typeof roleFlags

const pathOf = (folder: string, role: Role) => join(folder, `${role}.pid`)

/** @returns the process that the file names, if it still runs in that role: the parent, or a successor that has not become the gate yet */
export function findProcess(folder: string, role: Role): number | undefined {
  try {
    const pid = Number(readFileSync(pathOf(folder, role), 'utf8'))
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    return words.includes(folder) && words.includes(roleFlags[role]) ? pid : undefined
  } catch {
    return undefined
  }
}

export function writeSuccessor(folder: string, pid: number): void {
  try {
    writeFileSync(pathOf(folder, 'successor'), `${pid}\n`, { mode: 0o600 })
  } catch (error) {
    // It only helps a parent when the gate is killed within the next moments: a full disk must not prevent the handover.
    report(error)
  }
}

/** Called when the process has become the gate or was given up. */
export function forgetSuccessor(folder: string, pid: number | undefined): void {
  if (findProcess(folder, 'successor') === pid) rmSync(pathOf(folder, 'successor'), { force: true })
}

/** @returns whether this process is the folder's one parent from now on; two of them would each start a gate after an end */
export function claimParent(folder: string): boolean {
  const own = `${pathOf(folder, 'parent')}.${process.pid}`
  try {
    // Made whole under another name, then linked: nobody reads a half-written number, and a second link fails.
    writeFileSync(own, `${process.pid}\n`, { mode: 0o600 })
    for (let attempt = 1; ; attempt += 1) {
      const other = findProcess(folder, 'parent')
      if (other !== undefined) return other === process.pid
      try {
        linkSync(own, pathOf(folder, 'parent'))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || attempt > 2) throw error
        rmSync(pathOf(folder, 'parent'), { force: true })
      }
    }
  } catch (error) {
    // On a full disk for instance: a gate that is kept by two is better than one that is kept by nobody.
    report(error)
    return true
  } finally {
    rmSync(own, { force: true })
  }
}

function report(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
}
