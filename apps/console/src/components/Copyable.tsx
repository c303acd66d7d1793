import { CodeBlock } from './CodeBlock.tsx'
import { CopyButton } from './CopyButton.tsx'

/** A text that is shown once, with the button that copies it. */
export function Copyable({ label, text }: { label: string; text: string }) {
  return (
    <div className="overflow-clip rounded-box border border-line">
      <div className="flex items-center border-b border-line py-1 pr-1 pl-3">
        <span className="font-strong">{label}</span>
        <span className="ml-auto">
          <CopyButton text={text} withWord />
        </span>
      </div>
      <CodeBlock text={text} label={label} className="max-h-48 [&>pre]:break-all [&>pre]:whitespace-pre-wrap" />
    </div>
  )
}
