import { State } from '../../components/State.tsx'

/** Active, inactive, or switched off by Crux. */
export const NotificationStatus = ({
  of: { active, problem },
}: {
  of: { active: boolean; problem?: string | null }
}) => <State kind="notification" value={active ? 'active' : problem ? 'switched-off' : 'inactive'} />
