import { cx } from '../../components/class-names.ts'
import type { ChangeLine } from './change-lines.ts'

/** The two sides of each change, in mono. */
export function DiffLines({ lines, className }: { lines: readonly ChangeLine[]; className?: string }) {
  return (
    <pre className={cx('mono overflow-x-auto rounded-md bg-sunken py-1.5', className)}>
      {lines.map((line) => (
        <span
          key={line.sign + line.text}
          className={cx(
            'block px-2 break-all whitespace-pre-wrap',
            line.sign === '+' ? 'tinted-running text-running' : 'tinted-failed text-failed',
          )}
        >
          {line.sign} {line.text}
        </span>
      ))}
    </pre>
  )
}
