import type { OnReadOpts, Socket } from 'node:net'

/** How a socket is read whose bytes go straight on to another one. */
export interface Portions {
  onread: OnReadOpts
  /** The connection is over. */
  end(): void
}

const smallest = 4_096
const usual = 65_536
const largest = 262_144
/** So many connections at once may use more memory than usual: thousands of slow readers must not. */
const largeMax = 128
/** Kept for the next connections. */
const freeMax = 1_024

/**
 * Memory for reading that is used again and grows with what comes. Against a new buffer for each portion, as sockets have it by
 * themselves, this takes half the processor's time for bulk, and little memory for thousands of connections that are quiet.
 */
export function createChunker(): (to: Socket) => Portions {
  let large = 0
  const free: Buffer[] = []
  return (to) => {
    let size = smallest
    let buffer = free.pop() ?? Buffer.allocUnsafeSlow(size)
    const resize = (wanted: number) => {
      const given = wanted > usual && size <= usual && large >= largeMax ? usual : wanted
      large += Number(given > usual) - Number(size > usual)
      size = given
      buffer = Buffer.allocUnsafeSlow(size)
    }
    return {
      onread: {
        // Asked for after every portion.
        buffer: () => buffer,
        callback(bytes) {
          const takesMore = to.write(bytes === size ? buffer : buffer.subarray(0, bytes))
          // What is not written yet still lies in the buffer, which then belongs to it.
          if (to.writableLength > 0) {
            resize(smallest)
            return takesMore
          }
          if (bytes === size && size < largest) resize(Math.min(largest, size * 4))
          else if (bytes < size / 16) resize(Math.max(smallest, size / 4))
          return true
        },
      },
      end() {
        large -= Number(size > usual)
        if (size === smallest && to.writableLength === 0 && free.length < freeMax) free.push(buffer)
        size = smallest
      },
    }
  }
}
