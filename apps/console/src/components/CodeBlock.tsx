import { cx } from './class-names.ts'

/** Read-only text in mono that scrolls inside its own frame, by keyboard too. */
export function CodeBlock({ text, label, className }: { text: string; label: string; className?: string }) {
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
      tabIndex={0}
      className={cx('overflow-auto bg-sunken p-3', className)}
    >
      <pre className="mono">{text}</pre>
    </section>
  )
}
