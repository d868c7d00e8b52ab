/* SPDX-License-Identifier: BSD-3-Clause
 *
 * timeline_page.h - the script of ftrma-timeline's page: places what is drawn again when the range of time changes. It is given `view`: the
 * picture's borders, and the range in milliseconds.
 */
#ifndef FT_TOOLS_TIMELINE_PAGE_H
#define FT_TOOLS_TIMELINE_PAGE_H

static const char ft_timeline_script[] =
    "const svg=document.getElementById('timeline'),first={...view},axis=document.getElementById('axis');\n"
    "const place=ms=>view.left+(ms-view.begin)/(view.end-view.begin)*(view.right-view.left);\n"
    "const clamp=x=>Math.min(Math.max(x,view.left),view.right);\n"
    "function ticks(){\n"
    " const range=view.end-view.begin;let step=10**Math.floor(Math.log10(range/8));\n"
    " step*=range/step>40?5:range/step>16?2:1;\n"
    " const decimals=Math.max(0,Math.ceil(-Math.log10(step)-1e-9));let s='';\n"
    " for(let v=Math.ceil(view.begin/step)*step;v<=view.end;v+=step){const x=place(v);\n"
    "  s+=`<line x1=\"${x}\" x2=\"${x}\" y1=\"${view.top}\" y2=\"${view.bottom}\" stroke=\"#dddddd\"/>`+\n"
    "   `<text x=\"${x}\" y=\"${view.bottom+16}\" text-anchor=\"middle\">${v.toFixed(decimals)}</text>`;}\n"
    " axis.innerHTML=s;\n"
    "}\n"
    "function draw(){\n"
    " for(const r of svg.querySelectorAll('rect.t')){\n"
    "  const a=+r.dataset.a,b=+r.dataset.b,x=clamp(place(a)),out=b<view.begin||a>view.end;\n"
    "  r.setAttribute('x',x);r.setAttribute('width',out?0:Math.max(clamp(place(b))-x,b>a?1.5:0));\n"
    " }\n"
    " for(const m of svg.querySelectorAll('g.m')){\n"
    "  const a=+m.dataset.a;m.style.display=a<view.begin||a>view.end?'none':'';\n"
    "  m.setAttribute('transform',m.getAttribute('transform').replace(/\\([^ ]+/,'('+place(a)));\n"
    " }\n"
    " ticks();\n"
    "}\n"
    "const time=e=>{const p=new DOMPoint(e.clientX,e.clientY).matrixTransform(svg.getScreenCTM().inverse());\n"
    " return view.begin+(p.x-view.left)/(view.right-view.left)*(view.end-view.begin);};\n"
    "svg.addEventListener('wheel',e=>{e.preventDefault();const at=time(e),by=e.deltaY>0?1.25:0.8;\n"
    " const range=(view.end-view.begin)*by;if(range<1e-4)return;\n"
    " view.begin=at-(at-view.begin)*by;view.end=view.begin+range;draw();},{passive:false});\n"
    "let held=null;\n"
    "svg.addEventListener('pointerdown',e=>{held=time(e);});\n"
    "svg.addEventListener('pointermove',e=>{if(held===null)return;const by=held-time(e);view.begin+=by;view.end+=by;draw();});\n"
    "addEventListener('pointerup',()=>{held=null;});\n"
    "svg.addEventListener('dblclick',()=>{Object.assign(view,first);draw();});\n"
    "draw();\n";

#endif
