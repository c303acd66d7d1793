import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Tells a parent's command line from any other: a process number alone may be another process's by now. */
export const parentFlag = '--parent'

const pathOf = (folder: string) => join(folder, 'parent.pid')

/** @returns the process that keeps a gate running in the folder, undefined when there is none */
export function findParent(folder: string): number | undefined {
  try {
    const pid = Number(readFileSync(pathOf(folder), 'utf8'))
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    return words.includes(folder) && words.includes(parentFlag) ? pid : undefined
  } catch {
    return undefined
  }
}

/** @returns whether this process is the folder's one parent from now on; two of them would each start a gate after an end */
export function claimParent(folder: string): boolean {
  const own = `${pathOf(folder)}.${process.pid}`
  try {
    // Made whole under another name, then linked: nobody reads a half-written number, and a second link fails.
    writeFileSync(own, `${process.pid}\n`, { mode: 0o600 })
    for (let attempt = 1; ; attempt += 1) {
      const other = findParent(folder)
      if (other !== undefined) return other === process.pid
      try {
        linkSync(own, pathOf(folder))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || attempt > 2) throw error
        rmSync(pathOf(folder), { force: true })
      }
    }
  } catch (error) {
    // On a full disk for instance: a gate that is kept by two is better than one that is kept by nobody.
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    return true
  } finally {
    rmSync(own, { force: true })
  }
}
