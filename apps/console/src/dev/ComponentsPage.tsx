import { Chips } from '../components/Chips.tsx'
import { setTheme, themes, useTheme } from '../stores/theme.ts'
import { Controls } from './Controls.tsx'
import { Views } from './Views.tsx'

/** Every shared component in every state, at /dev/components of a development build. */
export function ComponentsPage() {
  const theme = useTheme()
  return (
    <div className="grid w-full max-w-[1100px] min-w-0 gap-6 self-start">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h1 className="text-title font-semibold">Every shared component</h1>
        <Chips
          label="Theme"
          value={theme}
          onChange={setTheme}
          options={themes.map((value) => ({ value, label: value }))}
        />
      </div>
      <Controls />
      <Views />
    </div>
  )
}
