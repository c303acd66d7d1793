/** The number of last characters that usually distinguishes long names of one kind. */
const tailLength = 10

/** A name that is cut in its middle where it has too little room: names of one kind differ at their ends. A copy has the full name. */
export function MiddleEllipsis({ text }: { text: string }) {
  const head = text.slice(0, -tailLength)
  if (!head) return text
  return (
    <span className="inline-flex max-w-full min-w-0 align-bottom" title={text}>
      {/* Two boxes side by side would be read, and searched for, as two words. */}
      <span className="sr-only">{text}</span>
      <span aria-hidden className="truncate whitespace-pre">
        {head}
      </span>
      <span aria-hidden className="shrink-0 whitespace-pre">
        {text.slice(-tailLength)}
      </span>
    </span>
  )
}
