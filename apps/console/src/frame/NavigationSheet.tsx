import { Dialog } from '../components/Dialog.tsx'
import { NavigationList } from './Sidebar.tsx'

/** The sidebar below 768 px. */
export function NavigationSheet({ team, onClose }: { team: { name: string; slug: string }; onClose: () => void }) {
  return (
    <Dialog open onClose={onClose} shape="sheet" title={team.name}>
      <NavigationList teamSlug={team.slug} onGo={onClose} />
    </Dialog>
  )
}
