import type { NotKept, SourcePosition } from '@crux/compose'
import { Position } from './Position.tsx'

type Props = { notKept: readonly NotKept[]; onJump: (position: SourcePosition) => void }

/** Parts of the files that a version cannot hold, each with the reason. */
export function NotKeptLines({ notKept, onJump }: Props) {
  return (
    <ul className="grid gap-2 px-3 py-2.5">
      {notKept.map((one) => (
        <li key={`${one.file} ${one.line} ${one.column} ${one.path}`} className="min-w-0 wrap-anywhere">
          <Position position={one} onJump={onJump} /> <code className="mono">{one.path}</code>
          <span className="block text-ink-2">{one.reason}</span>
        </li>
      ))}
    </ul>
  )
}
