import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

interface Process {
  pid: number
  parent: number
  /** Processor time, in hundredths of a second. */
  ticks: number
  words: string
  environment: string
  directory: string
}

/** The processes of the machine that this user may read. */
export function readProcesses(): Process[] {
  return readdirSync('/proc').flatMap((entry) => {
    if (!/^\d+$/.test(entry)) return []
    try {
      const read = (name: string) => readFileSync(`/proc/${entry}/${name}`, 'utf8')
      const stat = read('stat')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return {
        pid: Number(entry),
        parent: Number(fields[1]),
        ticks: Number(fields[11]) + Number(fields[12]),
        words: read('cmdline').replaceAll('\0', ' '),
        environment: read('environ'),
        directory: readlinkSync(`/proc/${entry}/cwd`),
      }
    } catch {
      // The process ended in the meantime.
      return []
    }
  })
}
