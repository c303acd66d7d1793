import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

export interface RuntimeFile {
  /** Path inside the image. */
  path: string
  /** Path on this machine. */
  source: string
}

/** The files that Node needs in an image without a distribution: itself, the libraries that `ldd` names, and the loader. */
export async function nodeRuntimeFiles(node: string = process.execPath): Promise<RuntimeFile[]> {
  const { stdout } = await promisify(execFile)('ldd', [node])
  const libraries = stdout
    .split('\n')
    .map((line) => /(?:=>\s+)?(\/\S+)\s+\(0x/.exec(line)?.[1])
    .filter((path) => path !== undefined)
  return [{ path: '/bin/node', source: node }, ...libraries.map((path) => ({ path, source: path }))]
}
