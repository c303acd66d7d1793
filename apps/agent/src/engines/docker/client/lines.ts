/** The lines of a stream of the engine, without empty ones. A last line that has no end is incomplete and is left out. */
export async function* toLines(stream: NodeJS.ReadableStream): AsyncGenerator<string> {
  let rest = ''
  stream.setEncoding('utf8')
  for await (const chunk of stream) {
    const lines = (rest + String(chunk)).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.trim() !== '') yield line
  }
}
