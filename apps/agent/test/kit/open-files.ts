import { readdir, readlink } from 'node:fs/promises'

/** Files of the directory that this process has open, once for each handle. */
export async function listOpenFiles(directory: string): Promise<string[]> {
  const links = await Promise.all(
    (await readdir('/proc/self/fd')).map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')),
  )
  return links.filter((path) => path.startsWith(directory))
}
