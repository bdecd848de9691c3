/** The schema as text. The build writes the module. */
declare const text: string;
export default text;
