/**
 * The path under which the server's routes stand, from the path of the page (`BASE/chat/CHANNEL`): empty, or that of the
 * application they are mounted in.
 */
export function baseOf(pathname: string): string {
  const at = pathname.lastIndexOf('/chat/');
  return at < 0 ? '' : pathname.slice(0, at);
}
