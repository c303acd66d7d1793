import { addAbortSignal, Readable } from 'node:stream'
import type Docker from 'dockerode'
import { translating } from './errors.ts'

/** A symbolic link, in Go's file modes. */
const linkMode = 0x8000000

/**
 * Returns a path of a container as a tar archive. The engine archives a link as such, so a link at the end of the path is followed first;
 * it resolves within the container's own files.
 */
export async function readArchive(docker: Docker, id: string, path: string, signal: AbortSignal): Promise<Readable> {
  const container = docker.getContainer(id)
  const doing = `read ${path} of the container`
  const wanted = path.replace(/(.)\/+$/, '$1')
  const metadata: { headers?: Record<string, string> } = await translating(doing, () =>
    container.infoArchive({ path: wanted }),
  )
  const stat = statOf(metadata)
  const target = stat && stat.mode & linkMode && stat.linkTarget ? stat.linkTarget : wanted
  const stream = await translating(doing, () => container.getArchive({ path: target }))
  if (!(stream instanceof Readable)) throw new Error('the engine answers without an archive')
  return addAbortSignal(signal, stream)
}

function statOf({ headers }: { headers?: Record<string, string> }): { mode: number; linkTarget: string } | undefined {
  const encoded = headers?.['x-docker-container-path-stat']
  return encoded ? JSON.parse(Buffer.from(encoded, 'base64').toString('utf8')) : undefined
}
