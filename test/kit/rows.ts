/** The rows of a table as text: one line each, its cells separated by ` | `. */
export function rows<Cells extends string[] = string[]>(text: string): Cells[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => line.split(/ +\|(?= |$)/).map((cell) => cell.trim()) as Cells);
}
