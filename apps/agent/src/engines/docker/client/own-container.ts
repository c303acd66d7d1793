import { readFile } from 'node:fs/promises'
import type Docker from 'dockerode'

/**
 * Finds the container that this process runs in. With the host's network its hostname is useless, but Docker mounts the container's own
 * hosts and resolv.conf files from a directory that is named after its id.
 */
export async function findOwnContainer(docker: Docker): Promise<string> {
  const id = idFrom(await readFile('/proc/self/mountinfo', 'utf8').catch(() => ''))
  if (!id) return ''
  try {
    return (await docker.getContainer(id).inspect()).Name.replace(/^\//, '')
  } catch {
    return ''
  }
}

export function idFrom(mountinfo: string): string | undefined {
  return /\/containers\/([0-9a-f]{64})\/(?:hostname|resolv\.conf|hosts)/.exec(mountinfo)?.[1]
}
