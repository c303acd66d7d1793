import { open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { CruxError } from '@crux/contract'
import type { App } from '../context.ts'
import { agentDirectory } from '../places.ts'

/** The names of architectures as `uname -m`, Windows, Go and Node report them. */
const names: Record<string, string> = {
  x86_64: 'amd64',
  amd64: 'amd64',
  x64: 'amd64',
  aarch64: 'arm64',
  arm64: 'arm64',
  armv8l: 'arm64',
}
const ownArchitecture = process.arch === 'x64' ? 'amd64' : process.arch

/**
 * The agent's image in the format of `docker save`, made by the build for the architecture of its machine.
 *
 * @throws CruxError preconditionFailed when this server has none, or none for the architecture
 */
export async function openAgentImage(app: App, architecture: string | undefined) {
  const wanted = architecture && (names[architecture.toLowerCase()] ?? architecture)
  if (wanted && wanted !== ownArchitecture) {
    throw new CruxError('preconditionFailed', {
      property: 'architecture',
      value: architecture,
      description: `This server has the agent's image for ${ownArchitecture} only: set CRUX_AGENT_IMAGE to an image for ${wanted}.`,
    })
  }
  const path = app.config.agentImagePath ?? join(agentDirectory, 'dist/agent-image.tar')
  const size = await stat(path).then(
    (found) => (found.isFile() ? found.size : undefined),
    () => undefined,
  )
  if (!size) {
    throw new CruxError('preconditionFailed', {
      property: 'agentImage',
      description: "This server's agent image is not built: run npm start once, or set CRUX_AGENT_IMAGE.",
    })
  }
  return { size, bytes: readFile(path, size) }
}

/** Reads at most the announced size. If a build replaces the file in the meantime, the open file stays the old one. */
async function* readFile(path: string, size: number): AsyncGenerator<Uint8Array> {
  const file = await open(path)
  try {
    for await (const chunk of file.createReadStream({ end: size - 1, highWaterMark: 256 * 1_024 })) {
      yield chunk
    }
  } finally {
    await file.close().catch(() => undefined)
  }
}
